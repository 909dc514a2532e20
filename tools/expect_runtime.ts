/** Prepares a test worker. Throws if the worker runs on another runtime than expected, which can happen silently. */
const expected = process.env["ACCOUNTLINK_TEST_RUNTIME"] ?? "Node.js/24";

if (!navigator.userAgent.startsWith(expected)) {
  throw new Error(`Cannot run the tests: the runtime is "${navigator.userAgent}", expected "${expected}"`);
}

// Only this worker uses the compile cache. Tests measure the programs that they start, and users start those without
// it.
delete process.env["NODE_COMPILE_CACHE"];
