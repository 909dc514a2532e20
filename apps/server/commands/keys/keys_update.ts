import { ApiKeys, type Conflict, type InvalidParameter, type KeyId } from "@accountlink/core";
import { KeyStore, type KeyUpdate, maskedKey, tiers } from "@accountlink/core/keys";
import { keyKinds } from "@accountlink/core/limits";
import { Clock, Effect, Option, Record } from "effect";
import { Command, Flag } from "effect/cli";
import { keyArgument, nameFlag, problemsText, refuse, timeFlag } from "../../cli/flags.ts";
import { CommandFailed } from "../../cli/report.ts";
import { answerWithLocation, describe, managed, operatorOrigin } from "../command.ts";
import { accessFlag, checkEnd, checkLimits, limitFlags, limitsOf, listFlags } from "./key_flags.ts";
import { keyJson } from "./key_output.ts";

const clearings = {
  expires: { expiresAt: null },
  limits: { limits: {} },
  "allow-ip": { allowIps: [] },
  "deny-ip": { denyIps: [] },
  "redirect-origin": { redirectOrigins: [] },
} as const satisfies Record<string, KeyUpdate>;

const flags = {
  id: keyArgument,
  name: nameFlag("name").pipe(Flag.withDescription("Description of the key"), Flag.optional),
  tier: Flag.Literals("tier", tiers).pipe(
    Flag.withDescription("Tier of the key, independent of its account's tier"),
    Flag.optional,
  ),
  kind: Flag.Literals("kind", keyKinds).pipe(
    Flag.withDescription("Only normal keys count towards the number that the account's plan allows"),
    Flag.optional,
  ),
  access: accessFlag.pipe(Flag.optional),
  expiresAt: timeFlag("expires").pipe(
    Flag.withDescription("When the key ends, such as 2030-01-31 or 2030-01-31T08:00:00Z"),
    Flag.optional,
  ),
  ...limitFlags,
  ...listFlags,
  clear: Flag.Literals("clear", Record.keys(clearings)).pipe(
    Flag.withDescription("What to clear: the end, the key's own limits, or a list; can be repeated"),
    Flag.atLeast(0),
  ),
};

type Choice = Command.Command.Config.Infer<typeof flags>;

/** The values to change. Chosen limits replace all limits of the key, and a chosen list replaces the whole list. */
const updateOf = (choice: Choice): KeyUpdate => {
  const { name, tier, kind, access, expiresAt, allowIps, denyIps, redirectOrigins } = choice;
  const lists = { allowIps, denyIps, redirectOrigins };
  const limits = limitsOf(choice);
  return {
    ...Record.getSomes({ name, tier, kind, access }),
    // The key has the rights of the account's owners, since the operator gave it the access.
    ...(Option.contains(access, "manage") && { madeBy: null }),
    ...Record.getSomes({ expiresAt }),
    ...Record.filter(lists, (entries) => entries.length > 0),
    ...(limits === "none" || Object.keys(limits).length > 0 ? { limits } : {}),
  };
};

const clearedBy = ({ clear }: Choice): KeyUpdate =>
  Object.assign({}, ...clear.map((name) => clearings[name]));

const checkUpdate = (choice: Choice) => {
  const [set, cleared] = [updateOf(choice), clearedBy(choice)];
  if (Object.keys(set).length + Object.keys(cleared).length === 0) {
    return refuse("keys update needs at least one flag that changes the key");
  }
  return Object.keys(set).some((field) => field in cleared)
    ? refuse("--clear takes no flag beside it that sets the same")
    : checkLimits(choice);
};

export const updateKeyCommand = managed("update", flags, function* (choice) {
  const { id } = choice;
  const now = yield* Clock.currentTimeMillis;
  yield* checkEnd(choice.expiresAt, now, `update ${maskedKey(id)}`);
  const changed = yield* update(id, { ...updateOf(choice), ...clearedBy(choice) });
  const key = Option.getOrThrow(yield* (yield* KeyStore).findDetails(id, now));
  const text = changed ? `Updated ${maskedKey(id)}` : `${maskedKey(id)} was like this before`;
  yield* answerWithLocation({ ...keyJson(key, now), changed }, text);
}).pipe(
  Command.validate(checkUpdate),
  describe(
    "Change a key. Limits that are given replace all limits of the key, a list replaces the whole " +
      "list. A running server applies it within a second.",
    {
      "accountlink keys update Aa0Bb1Cc2Dd3 --access read": "Only lookups from now on",
      "accountlink keys update Aa0Bb1Cc2Dd3 --kind partner --per-window 50 --daily 0":
        "50 requests per window, no daily limit",
      "accountlink keys update Aa0Bb1Cc2Dd3 --clear expires --clear limits":
        "No end, and the limits of its tier",
    },
  ),
);

const update = Effect.fnUntraced(function* (id: KeyId, changes: KeyUpdate) {
  const refused = (problem: string) =>
    new CommandFailed({ problem: `Cannot update ${maskedKey(id)}: ${problem}` });
  const updated = yield* (yield* ApiKeys).update(id, changes, operatorOrigin()).pipe(
    Effect.catchTags({
      Conflict: (_: Conflict) => refused("it is revoked"),
      InvalidParameter: (error: InvalidParameter) => refused(problemsText(error)),
    }),
  );
  return Option.isSome(updated) ? updated.value : yield* refused("there is no such key");
});
