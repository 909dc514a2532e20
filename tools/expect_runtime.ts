/** Fails a test run on the wrong runtime, such as a worker that fell back to another one. */
const expected = process.env["ACCOUNTLINK_TEST_RUNTIME"] ?? "Node.js/24";

if (!navigator.userAgent.startsWith(expected)) {
  throw new Error(`Cannot run the tests: the runtime is "${navigator.userAgent}", expected "${expected}"`);
}
