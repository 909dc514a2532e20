/** Prepares a test worker. Throws if the worker runs on another runtime than expected, which can happen silently. */
import { resolveQuickly } from "./quick_imports.ts";

resolveQuickly();

const expected = process.env["ACCOUNTLINK_TEST_RUNTIME"] ?? "Node.js/24";

if (!navigator.userAgent.startsWith(expected)) {
  throw new Error(`Cannot run the tests: the runtime is "${navigator.userAgent}", expected "${expected}"`);
}

// Programs that tests start must not inherit the compile cache of this worker: tests measure these programs, and users
// run them without the cache.
delete process.env["NODE_COMPILE_CACHE"];
