import { assert, test } from "@accountlink/test-servers/effect";
import { Cause, Effect, Exit } from "effect";
import { withOptional } from "./optional_package.ts";
import { InvalidOptions } from "./options.ts";

test("a missing package is named with the command that installs it, and other errors are defects", function* () {
  const name = "@effect/not-installed";
  const refused = yield* Effect.flip(withOptional(name, () => import(name)));
  assert.instanceOf(refused, InvalidOptions);
  assert.include(refused.message, `"${name}", which is missing: npm install ${name}`);
  const broken = withOptional(name, () => Promise.reject(new Error("a fault of the module")));
  const exit = yield* Effect.exit(broken);
  assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause));
});
