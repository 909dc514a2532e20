import { parseNetwork } from "@accountlink/core/addresses";
import { type AuditAction, auditActions } from "@accountlink/core/audit";
import { type EventType, eventTypes } from "@accountlink/core/events";
import { ChatId, GuildId, idRules } from "@accountlink/core/ids";
import type { KeyAccess } from "@accountlink/core/keys";
import { nameText } from "@accountlink/core/name_text";
import { isOrigin } from "@accountlink/core/origin";
import {
  Digits,
  expectedRules,
  expectedTemplate,
  mostRules,
  NicknameTemplate,
  type PlanState,
  type RoleRule,
  RoleRules,
} from "@accountlink/core/roles";
import { isStorable, storable } from "@accountlink/core/storable_text";
import { type Millis, TimestampMillis } from "@accountlink/core/timestamp";
import { type DeliveryStatus, longestDescription } from "@accountlink/core/webhooks";
import { Option, Schema, SchemaTransformation } from "effect";
import {
  chatId,
  countUpTo,
  inPath,
  oneOf,
  optional,
  type Parameter,
  required,
  withFallback,
} from "../parameter.ts";

/** Makes the parameter optional; undefined when it is left out. */
export const unlessLeftOut = <A>(parameter: Parameter<A>): Parameter<A | undefined> =>
  withFallback(parameter, undefined);

/** Makes a parameter that accepts null to remove the value. */
const orNull = <A>(
  schema: Schema.Codec<A, unknown>,
  reason: string,
  description: string,
): Parameter<A | null> => ({
  ...required(Schema.NullOr(schema), reason, description),
  takesNull: true,
});

/** A cursor in a list: the `next` of the previous page. */
const nextOf = <A>(schema: Schema.Codec<A, unknown>): Parameter<A | null> => ({
  ...optional(required(schema, "expected the next of an earlier page", "`next` of the previous page")),
  isText: true,
});

/** A key ID. Any text is accepted: a malformed ID counts as an unknown key. */
export const keyId = (description: string): Parameter<string> =>
  required(Schema.String, "expected the id of a key", description);

export const keyInPath = inPath(keyId("Public id of the key"));

const longestName = 80;

export const keyName: Parameter<string> = required(
  Schema.String.check(Schema.isMinCodePoints(1), Schema.isMaxCodePoints(longestName), nameText),
  `expected 1 to ${longestName} characters, no control characters or direction overrides`,
  "Your name for it",
);

export const keyScope: Parameter<"global" | "guild"> = oneOf(["global", "guild"], "Every guild, or one");

export const keyAccess: Parameter<KeyAccess> = oneOf(
  ["full", "read", "verify"],
  "What the key may do: everything, lookups, or verification sessions with the lookups that they need",
);

const mostEntries = 100;

const listOf = (isRight: (text: string) => boolean, expected: string) =>
  Schema.Array(Schema.String.check(Schema.makeFilter(isRight, { expected }))).check(
    Schema.isMaxLength(mostEntries),
  );

const networks = listOf((text) => Option.isSome(parseNetwork(text)), "an address or a CIDR");

export const networkList = (description: string): Parameter<ReadonlyArray<string>> =>
  required(networks, `expected a list of at most ${mostEntries} addresses or CIDRs`, description);

export const originList: Parameter<ReadonlyArray<string>> = required(
  listOf(isOrigin, "an origin"),
  `expected a list of at most ${mostEntries} origins such as "https://example.com"`,
  "Sites that verified users may be sent to",
);

export const expiresAt: Parameter<Millis | null> = {
  ...orNull(
    TimestampMillis,
    "expected an ISO 8601 timestamp or null",
    "When the key expires; null for never",
  ),
  isText: true,
};

/** A webhook ID in a path. Any text is accepted: a malformed ID counts as an unknown webhook. */
export const webhookInPath = inPath(
  required(Schema.String, "expected the id of a webhook", "Id of the webhook"),
);

/** An event ID in a path. Any text is accepted: a malformed ID counts as an unknown event. */
export const eventInPath = inPath(required(Schema.String, "expected the id of an event", "Id of the event"));

/** The URL that receives events. The service checks the form of the URL and the IP address of its host. */
export const webhookUrl: Parameter<string> = required(
  Schema.String,
  "expected an absolute https URL",
  "Absolute https URL of at most 2,000 characters",
);

export const webhookTypes: Parameter<ReadonlyArray<EventType>> = required(
  Schema.Array(Schema.Literals(eventTypes)),
  `expected a list of ${eventTypes.join(", ")}`,
  "Types of the events to send; empty for all",
);

export const webhookDescription: Parameter<string | null> = orNull(
  Schema.String.check(Schema.isMaxCodePoints(longestDescription), nameText),
  `expected at most ${longestDescription} characters, no control characters or direction overrides`,
  "What the webhook is for; null for no description",
);

export const webhookStatus: Parameter<"active" | "paused"> = oneOf(
  ["active", "paused"],
  "Whether events are sent; a paused webhook stores them",
);

export const deliveryStatus: Parameter<DeliveryStatus | null> = optional(
  oneOf(["delivered", "failing", "given_up"], "Only deliveries of this status"),
);

export const deliveryCursor = nextOf(Schema.String.check(Schema.isPattern(/^evt_[0-9A-Z]{26}$/u)));

export const keyStatus: Parameter<"active" | "disabled"> = oneOf(
  ["active", "disabled"],
  "Whether requests with the key are accepted",
);

const longestGrace = 604_800;

export const graceSeconds: Parameter<number> = withFallback(
  required(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: longestGrace })),
    `expected whole seconds from 0 to ${longestGrace}`,
    "Seconds that the previous secret stays valid",
  ),
  86_400,
);

export const days = countUpTo(90, 30, "How many UTC days, today included");

export const pageLimit = countUpTo(100, 50, "How many entries at most");

export const cursor = nextOf(
  Schema.String.check(Schema.isPattern(/^\d{1,15}$/u)).pipe(
    Schema.decodeTo(Schema.Int, SchemaTransformation.numberFromString),
  ),
);

export const userOfEntries = optional(chatId("Only entries about this chat user"));

export const auditAction: Parameter<AuditAction | null> = optional(
  required(
    Schema.Literals(auditActions),
    `expected one of ${auditActions.join(", ")}`,
    "Only entries of this action",
  ),
);

/** The public ID of a data scope. Any text is accepted: a malformed ID counts as an unknown scope. */
export const pid: Parameter<string> = required(
  Schema.String,
  "expected the public id of a data scope",
  "Public id of the data scope, `pid_…`",
);

export const pidInPath = inPath(pid);

export const planGuild: Parameter<GuildId> = required(
  GuildId,
  `expected ${idRules.guildId}`,
  "ID of the guild; for the scope of a guild, its own",
);

export const roleRules: Parameter<ReadonlyArray<RoleRule>> = required(
  RoleRules,
  expectedRules,
  `At most ${mostRules} rules, each with a role and the members who get it`,
);

export const nicknameTemplate: Parameter<string | null> = withFallback(
  orNull(
    NicknameTemplate,
    expectedTemplate,
    "Nickname of linked members, such as `{game.username}`; null leaves nicknames alone",
  ),
  null,
);

export const nicknameGroupId: Parameter<string | null> = withFallback(
  orNull(Digits, "expected null or the ID of a group", "The group whose rank `{group.role}` names, or null"),
  null,
);

export const bypassRoleId: Parameter<string | null> = withFallback(
  orNull(
    Digits,
    "expected null or the ID of a role",
    "Members with this role are left alone; null for no role",
  ),
  null,
);

export const rankedGroup: Parameter<string> = required(
  Digits,
  "expected the ID of a group",
  "ID of a group of the game platform",
);

export const planState: Parameter<PlanState> = oneOf(
  ["on", "paused"],
  "Whether the plan changes members; a paused plan changes nothing",
);

const longestSearch = 100;

export const username: Parameter<string> = required(
  Schema.String.check(Schema.isMaxCodePoints(longestSearch), storable),
  `expected at most ${longestSearch} characters`,
  "User name on the chat platform",
);

export const search: Parameter<string> = withFallback(
  required(
    Schema.String.check(Schema.isMaxCodePoints(longestSearch)),
    `expected at most ${longestSearch} characters`,
    "A chat ID, a game ID, or an exact user name of either platform; in a guild also the beginning of a member's name",
  ),
  "",
);

/** A page cursor in the list of a scope's links. */
const LinkPlace = Schema.String.check(Schema.isPattern(/^\d{1,15}-\d{5,32}$/u)).pipe(
  Schema.decodeTo(
    Schema.Struct({ lastVerifiedAt: Schema.Int, chatId: ChatId }),
    SchemaTransformation.transform({
      decode: (text: string) => {
        const [time = "", chat = ""] = text.split("-");
        return { lastVerifiedAt: Number(time), chatId: chat };
      },
      encode: (place) => `${place.lastVerifiedAt}-${place.chatId}`,
    }),
  ),
);

export const linkCursor = nextOf(LinkPlace);

/** A text that users read during the verification; null removes the text. */
const saidText = (most: number, description: string): Parameter<string | null> =>
  orNull(
    Schema.String.check(Schema.isMinCodePoints(1), Schema.isMaxCodePoints(most), nameText),
    `expected 1 to ${most} characters, no control characters or direction overrides, or null`,
    description,
  );

export const displayName = saidText(80, "Who asks users for their accounts; null for the account's name");

export const doneText = saidText(300, "What users should do once they are linked; null for nothing");

const longestSupportUrl = 2_000;

/**
 * Matches an https URL whose authority has no user info, and which contains no white space and no characters that
 * change how the text is displayed.
 */
const httpsUrl = /^https:\/\/[^\s\p{Cc}\p{Bidi_C}/?#\\@]+(?:[/?#][^\s\p{Cc}\p{Bidi_C}]*)?$/iu;

const isHttpsUrl = (text: string): boolean => URL.canParse(text) && httpsUrl.test(text) && isStorable(text);

export const supportUrl: Parameter<string | null> = orNull(
  Schema.String.check(
    Schema.isMaxCodePoints(longestSupportUrl),
    Schema.makeFilter(isHttpsUrl, { expected: "an https URL" }),
  ),
  `expected an https URL of at most ${longestSupportUrl} characters, without a user, white space and direction marks, or null`,
  "URL where users get help; null for none",
);
