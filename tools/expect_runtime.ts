/** Prepares a test worker. Fails on the wrong runtime, which a worker may fall back to. */
const expected = process.env["ACCOUNTLINK_TEST_RUNTIME"] ?? "Node.js/24";

if (!navigator.userAgent.startsWith(expected)) {
  throw new Error(`Cannot run the tests: the runtime is "${navigator.userAgent}", expected "${expected}"`);
}

// Only the worker uses the cache: programs that tests start are measured as users start them.
delete process.env["NODE_COMPILE_CACHE"];
