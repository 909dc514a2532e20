import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { expect, it } from "vitest";

it("the client is at most 6 kB, minified and compressed", async () => {
  const input = fileURLToPath(new URL("mod.ts", import.meta.url));
  const bundle = await rolldown({ input, platform: "browser" });
  const { output } = await bundle.generate({ minify: true });
  await bundle.close();
  // The bundle is complete: there is no second chunk and no import of another package.
  expect(output).toHaveLength(1);
  expect(output[0]).toMatchObject({ imports: [], dynamicImports: [] });
  const size = gzipSync(output[0].code, { level: 9 }).length;
  expect(size).toBeGreaterThan(1_000);
  expect(size).toBeLessThanOrEqual(6_000);
});
