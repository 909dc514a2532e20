import { assert, it } from "@accountlink/test-servers/effect";
import * as Errors from "./errors.ts";

it("a public error has no stack trace, and leaves the traces of other errors intact", () => {
  assert.strictEqual(new Errors.LinkNotFound().stack, "LinkNotFound: No matching link");
  assert.include(new Errors.InternalError({}).stack, "errors_test.ts");
});
