import { assert, it } from "@accountlink/test-servers/effect";
import * as Errors from "./errors.ts";

it("a public error has no stack trace, and leaves the traces of other errors intact", () => {
  // Bun leaves the whole stack out.
  assert.include(["LinkNotFound: No matching link", undefined], new Errors.LinkNotFound().stack);
  assert.include(new Errors.InternalError({}).stack, "errors_test.ts");
});
