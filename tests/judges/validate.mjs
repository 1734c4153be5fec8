// Khronos validator. Usage: validate.mjs FILE…; exit 1 on any error or warning; notes are only counted.
import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";

const tools = process.env.SINEW_TOOLS ?? path.join(import.meta.dirname, "../../.tools");
const validator = createRequire(path.join(tools, "npm/x.cjs"))("gltf-validator");
const SEVERITIES = ["error", "warning", "info", "hint"];

for (const file of process.argv.slice(2)) {
  const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)), {
    uri: file,
    maxIssues: 1000,
    externalResourceFunction: async (uri) =>
      new Uint8Array(fs.readFileSync(path.join(path.dirname(file), decodeURIComponent(uri)))),
  });
  const { numErrors, numWarnings, numInfos, numHints, messages } = report.issues;
  console.log(`${file}: ${numErrors} errors, ${numWarnings} warnings, ${numInfos + numHints} notes`);
  const serious = messages.filter((message) => message.severity < 2);
  for (const { severity, code, pointer, message } of serious.slice(0, 20)) {
    console.log(`  ${SEVERITIES[severity]} ${code} ${pointer ?? ""} ${message}`);
  }
  if (numErrors + numWarnings > 0) process.exitCode = 1;
}
