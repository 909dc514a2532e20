import { assert, it } from "@accountlink/test-servers/effect";
import * as Errors from "./errors.ts";

const refusal = { limit: 500, resetsAt: 1_000, retryAfter: 1 };
const waitTwo = "Please wait 2 seconds before your next request";
const waitOne = "Please wait 1 second before your next request";

const cause = new Error("secret detail");

const caused: ReadonlyArray<Errors.PublicError> = [
  new Errors.InvalidBody({ problem: "content", reason: "expected a JSON object", cause }),
  new Errors.InternalError({ cause }),
  new Errors.StoreUnavailable({ operation: "LinkStore.setGame", cause }),
  new Errors.PlatformUnavailable({ operation: "ChatPlatform.findGuild", cause }),
];

const messages: ReadonlyArray<readonly [error: Errors.PublicError, message: string]> = [
  [
    new Errors.MissingParameter({ parameters: ["gameId", "guildId"] }),
    "Missing required parameters: gameId, guildId",
  ],
  [
    Errors.InvalidParameter.one("chatId", "expected 5 to 32 digits"),
    "Invalid parameter: chatId (expected 5 to 32 digits)",
  ],
  [new Errors.RateLimited({ bucket: "second", limit: 1, resetsAt: 0, retryAfter: 2 }), waitTwo],
  [new Errors.RateLimited({ bucket: "second", limit: 1, resetsAt: 0, retryAfter: 1 }), waitOne],
  [new Errors.RateLimited({ bucket: "day", ...refusal }), "Daily request limit of 500 exceeded"],
  [new Errors.RateLimited({ bucket: "verify_day", ...refusal }), "Daily verification limit of 500 exceeded"],
  [new Errors.RateLimited({ bucket: "poll_count", ...refusal }), "Poll limit of 500 reached"],
];

it("a public error has no stack trace, and leaves the traces of other errors intact", () => {
  assert.strictEqual(new Errors.LinkNotFound().stack, "LinkNotFound: No matching link");
  assert.include(new Errors.InternalError({}).stack, "errors_test.ts");
});

it.each(caused)("$_tag hides its cause", (error) => {
  assert.notInclude(JSON.stringify([error.code, error.message, error.details]), "secret detail");
  assert.isAbove(error.message.length, 0);
});

it.each(messages)("%s has the documented message", (error, message) => {
  assert.strictEqual(error.message, message);
});
