/** A program for Deno: runs the suites on Deno KV in memory, and prints which cases failed. */
import { kvSuite, runSuites, storageSuites, type TestApi } from "@accountlink/testing/conformance";
import { Effect } from "effect";
import type { DenoKv } from "./deno_kv.ts";
import { denoKv, layer, memoryKv } from "./mod.ts";

declare const Deno: { readonly openKv: (path: string) => Promise<DenoKv & { readonly close: () => void }> };

const engine = Effect.map(
  Effect.acquireRelease(
    Effect.promise(() => Deno.openKv(":memory:")),
    (kv) => Effect.sync(() => kv.close()),
  ),
  denoKv,
);

const register = (test: TestApi) => {
  kvSuite({ name: "Deno", engine, test });
  storageSuites({ name: "Deno", layer: layer(engine), model: layer(Effect.sync(memoryKv)), runs: 2, test });
};

const failed: Array<string> = [];
let passed = 0;
for await (const { suite, title, failure } of runSuites(register)) {
  if (failure === null) passed++;
  else failed.push(`${suite}: ${title}`);
}
// oxlint-disable-next-line eslint/no-console -- the test reads the output of this program
console.log(JSON.stringify({ passed, failed }));
