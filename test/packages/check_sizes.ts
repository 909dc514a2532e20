/** A step of `npm run check`: the bundle sizes that docs/embedding.md states. Exits with 1 if one is wrong. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { build } from "esbuild";
import { codeOf, readDocument, rowsUnder } from "../docs/document.ts";

const rows = rowsUnder(readDocument("docs/embedding.md"), ["program", "Effect", "kB"]);
if (rows.length === 0) throw new Error("Cannot check sizes: docs/embedding.md states none");

for (const [program = "", effect = "", kilobytes = ""] of rows) {
  const { outputFiles } = await build({
    stdin: { contents: codeOf(program), resolveDir: import.meta.dirname },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    // The runtime of a worker provides these modules.
    external: ["node:*", ...(effect === "not counted" ? ["effect", "effect/*"] : [])],
    write: false,
    logLevel: "silent",
  });
  const { length } = await promisify(gzip)(outputFiles[0]?.contents ?? "", { level: 9 });
  const stated = Number(kilobytes) * 1_000;
  // If a bundle is much smaller than the documentation says, the documentation needs a new figure.
  if (outputFiles.length === 1 && length <= stated && length > 0.8 * stated) continue;
  console.log(
    `${program} has ${length} bytes in ${outputFiles.length} files, docs/embedding.md says ${kilobytes} kB`,
  );
  process.exitCode = 1;
}
