/** Prepares a worker. Fails on the wrong runtime, such as that of a worker that fell back to another one. */
const expected = process.env["ACCOUNTLINK_TEST_RUNTIME"] ?? "Node.js/24";

if (!navigator.userAgent.startsWith(expected)) {
  throw new Error(`Cannot run the tests: the runtime is "${navigator.userAgent}", expected "${expected}"`);
}

// The cache is the worker's: programs that tests start are measured as their users start them.
delete process.env["NODE_COMPILE_CACHE"];
