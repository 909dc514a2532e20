import { ApiKeys, type KeyId } from "@accountlink/core";
import { type ApiKey, KeyStore, maskedKey } from "@accountlink/core/keys";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { Clock, Effect, Option } from "effect";
import { Flag } from "effect/cli";
import { accountFlag, durationFlag, keyArgument } from "../../cli/flags.ts";
import { answer } from "../../cli/output.ts";
import { CommandFailed } from "../../cli/report.ts";
import { answerSecret, answerWithLocation, describe, group, managed, operatorOrigin } from "../command.ts";
import { keyJson, keyTable } from "./key_output.ts";
import { createKeyCommand } from "./keys_create.ts";
import { updateKeyCommand } from "./keys_update.ts";

const listFlags = {
  account: accountFlag.pipe(Flag.withDescription("Only the keys of this account"), Flag.optional),
};

const listKeysCommand = managed("list", listFlags, function* ({ account }) {
  const store = yield* KeyStore;
  const now = yield* Clock.currentTimeMillis;
  const keys = yield* store.listKeys(Option.getOrNull(account), now);
  yield* answer({ keys: keys.map((key) => keyJson(key, now)) }, keyTable(keys, now, "There are no keys"));
}).pipe(describe("List keys, oldest first, without their secrets."));

type Doing = "disable" | "enable" | "revoke" | "rotate";

const findKey = Effect.fnUntraced(function* (id: KeyId, doing: Doing) {
  const found = yield* (yield* KeyStore).findById(id);
  return yield* Effect.mapError(
    Effect.fromOption(found),
    () => new CommandFailed({ problem: `Cannot ${doing} ${maskedKey(id)}: there is no such key` }),
  );
});

const longestGrace = 604_800_000;

const rotateFlags = {
  id: keyArgument,
  grace: durationFlag("grace").pipe(
    Flag.filter(
      (millis) => millis <= longestGrace,
      () => "expected 7 days or less",
    ),
    Flag.withDescription(
      "How long the previous secret is still accepted, up to 7 days; 0 seconds ends it at once",
    ),
    Flag.withDefault(600_000),
  ),
};

const rotateKeyCommand = managed("rotate", rotateFlags, function* ({ id, grace }) {
  yield* findKey(id, "rotate");
  const graceSeconds = Math.ceil(grace / 1000);
  const previousUntil = formatTimestamp((yield* Clock.currentTimeMillis) + graceSeconds * 1000);
  const rotated = yield* (yield* ApiKeys).rotate(id, graceSeconds, operatorOrigin());
  if (Option.isNone(rotated)) {
    return yield* new CommandFailed({ problem: `Cannot rotate ${maskedKey(id)}: it is revoked` });
  }
  yield* answerSecret(
    { id, token: rotated.value, previousUntil },
    rotated.value,
    "This is the key with its new secret, shown this once",
    ` The previous secret is accepted until ${previousUntil}.`,
  );
}).pipe(
  describe("Give a key a new secret. Its id, scope and limits stay.", {
    'accountlink keys rotate Aa0Bb1Cc2Dd3 --grace "1 hour"': "Leave an hour to deploy the new secret",
  }),
);

const statusCommand = (doing: Doing, status: ApiKey["status"], description: string) =>
  managed(doing, { id: keyArgument }, function* ({ id }) {
    yield* findKey(id, doing);
    const updated = yield* Effect.catchTag(
      (yield* ApiKeys).update(id, { status }, operatorOrigin()),
      "Conflict",
      () =>
        status === "revoked"
          ? Effect.succeedNone
          : new CommandFailed({ problem: `Cannot ${doing} ${maskedKey(id)}: it is revoked` }),
    );
    const changed = Option.contains(updated, true);
    const text = changed ? `${maskedKey(id)} is ${status} now` : `${maskedKey(id)} was ${status} before`;
    yield* answerWithLocation({ id, status, changed }, text);
  }).pipe(describe(description, { [`accountlink keys ${doing} Aa0Bb1Cc2Dd3`]: "By the id of the key" }));

export const keysCommand = group(
  "keys",
  "Manage API keys, also next to a running server, which applies every change within a second.",
  [
    createKeyCommand,
    listKeysCommand,
    updateKeyCommand,
    rotateKeyCommand,
    statusCommand(
      "disable",
      "disabled",
      "Disable a key until it is enabled. A running server refuses it within a second.",
    ),
    statusCommand("enable", "active", "Enable a key that was disabled."),
    statusCommand("revoke", "revoked", "Revoke a key for good. A running server refuses it within a second."),
  ],
);
