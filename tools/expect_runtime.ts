/** Stops a test run that is not on the runtime it is meant for, such as a worker that fell back to another one. */
const expected = process.env["ACCOUNTLINK_TEST_RUNTIME"] ?? "Node.js/24";

if (!navigator.userAgent.startsWith(expected)) {
  throw new Error(`Cannot run the tests: the runtime is "${navigator.userAgent}", expected "${expected}"`);
}
