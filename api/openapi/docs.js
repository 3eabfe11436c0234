"use strict";

// newKey makes a UUIDv7: the time, and 74 random bits.
function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  let now = Date.now();
  for (let i = 5; i >= 0; i--, now = Math.floor(now / 256)) {
    bytes[i] = now % 256;
  }
  bytes[6] = (bytes[6] & 0x0f) | 0x70;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

// freshKeys is a plugin that fills in the Idempotency-Key of every operation.
function freshKeys() {
  const fill = (next) => (contract) => {
    const { IdempotencyKey, MoneyIdempotencyKey } = contract.components.parameters;
    IdempotencyKey.example = newKey();
    MoneyIdempotencyKey.example = newKey();
    return next(contract);
  };
  return { statePlugins: { spec: { wrapActions: { updateJsonSpec: fill } } } };
}

const { demoKey } = document.getElementById("api").dataset;
const ui = SwaggerUIBundle({
  url: "/openapi.yaml",
  dom_id: "#api",
  plugins: [freshKeys],
  deepLinking: true,
  tryItOutEnabled: true,
  showExtensions: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  onComplete: () => demoKey && ui.preauthorizeApiKey("bearer", demoKey),
});
