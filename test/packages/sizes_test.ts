/** Checks the bundle sizes that docs/embedding.md states. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { build } from "esbuild";
import { expect, it } from "vitest";
import { codeOf, readDocument, rowsUnder } from "../docs/document.ts";

const rows = rowsUnder(readDocument("docs/embedding.md"), ["program", "Effect", "kB"]);

it.each(rows)(
  "the bundle of %s is small, as documented",
  async (program = "", effect = "", kilobytes = "") => {
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
    expect(outputFiles).toHaveLength(1);
    const { length } = await promisify(gzip)(outputFiles[0]?.contents ?? "", { level: 9 });
    expect(length).toBeLessThanOrEqual(Number(kilobytes) * 1000);
    // If a bundle is much smaller than the documentation says, the documentation needs a new figure.
    expect(length).toBeGreaterThan(Number(kilobytes) * 800);
  },
);
