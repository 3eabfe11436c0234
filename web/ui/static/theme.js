// Puts the chosen theme on the page before it is drawn. Without a choice the system decides.
try {
  const choice = localStorage.getItem("theme");
  if (choice === "light" || choice === "dark") document.documentElement.dataset.theme = choice;
} catch { /* storage is closed: the system decides */ }
