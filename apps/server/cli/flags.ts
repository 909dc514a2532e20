/** Flags and arguments that several commands share. */
import {
  type GuildId,
  type InvalidParameter,
  KeyId,
  type ScopeTarget,
  targetOfGuild,
} from "@accountlink/core";
import { linkFormatNames } from "@accountlink/core/imports";
import { KeyStore, keyIdOf, type NewAccount, type Tier } from "@accountlink/core/keys";
import { isNameText, isVisibleName } from "@accountlink/core/name_text";
import { parseTimestamp } from "@accountlink/core/timestamp";
import { DashboardKeys, DashboardMembers, type Parameter } from "@accountlink/http-api";
import { Effect, Option, Schema } from "effect";
import { Argument, CliError, Flag } from "effect/cli";
import { durationMillis, expectedDuration } from "../config/variables.ts";
import { fieldFlag } from "./field_flags.ts";

const ofKey = DashboardKeys.createKey.parameters;
const ofMember = DashboardMembers.addMember.parameters;

/**
 * Makes a text flag that accepts the values for which `isRight` returns true; `expected` describes them in error
 * messages.
 */
export const textFlag = (name: string, isRight: (text: string) => boolean, expected: string) =>
  Flag.String(name).pipe(Flag.filter(isRight, () => `expected ${expected}`));

const mostInName = 100;
const expectedName = `1 to ${mostInName} characters, at least one of them visible, no control characters, zero-width characters or direction overrides`;

export const nameFlag = (name: string) =>
  textFlag(name, (text) => text.length <= mostInName && isVisibleName(text), expectedName);

/** The name of an account, which is invisible for some accounts of earlier releases. */
export const accountFlag = textFlag(
  "account",
  (text) => text.trim() !== "" && text.length <= mostInName && isNameText(text),
  expectedName,
).pipe(Flag.withMetavar("name"));

/** Refuses an invisible name for a new account. */
export const checkNewAccount = (name: string) =>
  isVisibleName(name) ? Effect.void : refuse(`--account is "${name}", expected ${expectedName}`);

const idFlag = <A>(name: string, field: Parameter<A>) => fieldFlag(name, field).pipe(Flag.withMetavar("id"));

export const chatIdFlag = idFlag("chat-id", ofMember.chatId).pipe(Flag.withDescription("The chat user"));

export const ownerFlag = idFlag("owner", ofMember.chatId);

export const guildFlag = (name: string) => idFlag(name, ofKey.guildId);

export const scopeFlags = {
  scope: fieldFlag("scope", ofKey.scope).pipe(
    Flag.withDescription("The account's global data scope, or that of one guild (default: global)"),
    Flag.optional,
  ),
  guildId: guildFlag("guild-id").pipe(Flag.withDescription("The guild of a guild scope"), Flag.optional),
};

interface ScopeChoice {
  readonly scope: Option.Option<"global" | "guild">;
  readonly guildId: Option.Option<GuildId>;
}

/** Refuses a guild scope without a guild ID, and a global scope with a guild ID. */
export const checkScope = ({
  scope,
  guildId,
}: ScopeChoice): Effect.Effect<void, CliError.ValidationError> => {
  if (Option.contains(scope, "guild") && Option.isNone(guildId)) {
    return refuse("--scope guild needs --guild-id");
  }
  return Option.contains(scope, "global") && Option.isSome(guildId)
    ? refuse("--scope global takes no --guild-id")
    : Effect.void;
};

/** Fails with a usage error, for flags that are valid alone but not together. */
export const refuse = (message: string): Effect.Effect<never, CliError.ValidationError> =>
  Effect.fail(new CliError.ValidationError({ message }));

/** Returns the chosen scope. If `--guild-id` is given without `--scope`, this is the scope of the guild. */
export const targetOf = ({ guildId }: ScopeChoice): ScopeTarget => targetOfGuild(Option.getOrNull(guildId));

export const scopeText = (target: ScopeTarget): string =>
  target.kind === "guild" ? `guild ${target.guildId}` : "global";

/**
 * Reads the ID of a key from the ID itself, the masked key (`alk_<id>_…`) or the whole key, whose secret is dropped.
 */
export const readKeyId = (text: string): Option.Option<KeyId> => {
  const id = keyIdOf(text) ?? /^(?:alk_)?([0-9A-Za-z]{12})(?:_(?:…|\.\.\.)?)?$/.exec(text)?.[1];
  return Option.filter(Option.fromNullishOr(id), Schema.is(KeyId));
};

export const switchFlag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(description), Flag.withDefault(false));

export const formatFlag = Flag.Literals("format", linkFormatNames).pipe(
  Flag.withDescription("Format of the file (default: by its ending, .csv, .ndjson or .jsonl)"),
  Flag.optional,
);

/** Makes a flag that takes a duration such as `5 minutes`. The parsed value is in milliseconds. */
export const durationFlag = (name: string) =>
  Flag.String(name).pipe(
    Flag.filterMap(durationMillis, () => `expected ${expectedDuration}`),
    Flag.withMetavar("duration"),
  );

export const countFlag = (name: string) =>
  Flag.Int(name).pipe(
    Flag.filter(
      (count) => count >= 0 && count < 1e15,
      () => "expected a whole number, 0 or more",
    ),
    Flag.withMetavar("count"),
  );

const mostListed = 1_000;

/** Makes a flag that says how many entries of a list are printed. */
export const limitFlag = (entries: string) =>
  countFlag("limit").pipe(
    Flag.filter(
      (limit) => limit >= 1 && limit <= mostListed,
      () => `expected 1 to ${mostListed}`,
    ),
    Flag.withDescription(`${entries}, 1 to ${mostListed} (default: 50)`),
    Flag.withDefault(50),
  );

/** Makes a flag that takes a date or a time. The parsed value is in milliseconds since the epoch. */
export const timeFlag = (name: string) =>
  Flag.String(name).pipe(
    Flag.filterMap(parseTimestamp, () => "expected an ISO 8601 date, or a date and time with its offset"),
    Flag.withMetavar("time"),
  );

export const problemsText = ({ parameters }: InvalidParameter): string =>
  parameters.map(({ name, reason }) => `${name}: ${reason}`).join(", ");

/**
 * Returns the account with the name that a flag gives. If none has this name, returns a new account that is not stored
 * yet. Refuses the display name of another account.
 */
export const accountOf = Effect.fnUntraced(function* (name: string, tier: Tier) {
  const store = yield* KeyStore;
  const found = yield* store.findAccount(name);
  if (Option.isSome(found)) return found.value;
  yield* checkNewAccount(name);
  const shown = (yield* store.listAccounts()).find(({ displayName }) => displayName === name);
  if (shown !== undefined)
    return yield* refuse(`"${name}" is shown for the account "${shown.name}": use that name`);
  return { name, chatId: null, tier } satisfies NewAccount;
});

export const keyArgument = Argument.String("key").pipe(
  Argument.withDescription("ID of the key: the 12 characters after alk_, or the key as listed"),
  Argument.filterMap(readKeyId, () => "expected 12 letters or digits, or alk_<id>_…"),
);
