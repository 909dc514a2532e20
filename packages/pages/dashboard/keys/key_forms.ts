/** Reads the forms of keys, by the same rules as the bodies of the JSON routes. */
import { parseNetwork } from "@accountlink/core/addresses";
import { type InvalidBody, InvalidParameter, MissingParameter } from "@accountlink/core/errors";
import type { KeyId } from "@accountlink/core/ids";
import type { KeyDetails } from "@accountlink/core/keys";
import { isOrigin } from "@accountlink/core/origin";
import { parameterReader } from "@accountlink/http/for_pages";
import { DashboardKeys } from "@accountlink/http-api";
import { Effect, Option } from "effect";
import type { Fields } from "../owner_pages.ts";
import { entriesOf, expiryOf, type KeyRules, type NewKeyForm, rulesOf } from "./key_form.ts";
import { given, ownedKeyOf } from "./keys_api.ts";

const readNewKey = parameterReader(DashboardKeys.createKey);
const readUpdate = parameterReader(DashboardKeys.patchKey);
const readRotation = parameterReader(DashboardKeys.rotateKey);

export const typedRules = (fields: Fields): KeyRules => ({
  name: fields("name").trim(),
  access: fields("access"),
  allowIps: fields("allowIps"),
  denyIps: fields("denyIps"),
  redirectOrigins: fields("redirectOrigins"),
  lastDay: fields("expiresAt").trim(),
});

export const typedKey = (fields: Fields): NewKeyForm => ({
  ...typedRules(fields),
  scope: fields("scope"),
  guildId: fields("guildId").trim(),
});

const listsOf = ({ allowIps, denyIps, redirectOrigins }: KeyRules) => ({
  allowIps: entriesOf(allowIps),
  denyIps: entriesOf(denyIps),
  redirectOrigins: entriesOf(redirectOrigins),
});

/** Says which of the typed addresses and sites is wrong, and what to enter instead. */
const explained = <A, E>(read: Effect.Effect<A, E>, rules: KeyRules) =>
  Effect.mapError(read, (error) => {
    if (!(error instanceof InvalidParameter)) return error;
    const parameters = error.parameters.map((problem) => {
      const reason = reasonsOfLists[problem.name]?.(rules);
      return reason === undefined ? problem : { ...problem, reason };
    });
    return new InvalidParameter({ parameters });
  });

/** Returns why the first wrong entry of a list is wrong; undefined if no entry is wrong. */
const reasonOf = (lines: string, isRight: (entry: string) => boolean, reason: (entry: string) => string) => {
  const wrong = entriesOf(lines).find((entry) => !isRight(entry));
  return wrong === undefined ? undefined : reason(wrong);
};

const isNetwork = (entry: string): boolean => Option.isSome(parseNetwork(entry));

const addressReason = (entry: string): string =>
  `“${entry}” is neither an address, such as 203.0.113.7, nor a range, such as 203.0.113.0/24`;

const reasonsOfLists: Readonly<Record<string, (rules: KeyRules) => string | undefined>> = {
  allowIps: ({ allowIps }) => reasonOf(allowIps, isNetwork, addressReason),
  denyIps: ({ denyIps }) => reasonOf(denyIps, isNetwork, addressReason),
  redirectOrigins: ({ redirectOrigins }) => reasonOf(redirectOrigins, isOrigin, originReason),
};

const originReason = (entry: string): string => {
  const url = URL.canParse(entry) ? new URL(entry) : null;
  return url !== null && /^https?:$/.test(url.protocol)
    ? `“${entry}” is an address of a page; enter its site alone: ${url.origin}`
    : `“${entry}” is not a site; it begins with https://, such as https://example.com`;
};

export const newKeyOf = (form: NewKeyForm) => {
  const { name, scope, access, guildId, lastDay } = form;
  // The browser sends the chosen guild even if the scope is global.
  const guild = scope === "guild" ? { guildId } : {};
  const raw = { name, scope, ...guild, access, ...listsOf(form), expiresAt: expiryOf(lastDay) };
  const read = readNewKey(raw, scope === "guild" ? "guild" : "global");
  return Effect.flatMap(explained(Effect.fromResult(read), form), ownedKeyOf);
};

/** The changed values of a key. If the last day did not change, the exact expiry is kept. */
export const updateOf = (key: KeyDetails, rules: KeyRules) => {
  const { name, access, lastDay } = rules;
  if (name === "") return Effect.fail(InvalidParameter.one("name", "expected 1 to 80 characters"));
  const end = lastDay === rulesOf(key).lastDay ? {} : { expiresAt: expiryOf(lastDay) };
  const raw = { id: key.id, name, access, ...listsOf(rules), ...end };
  return Effect.map(
    explained(Effect.fromResult(readUpdate(raw, "global")), rules),
    ({ allowIps, denyIps, redirectOrigins, expiresAt, ...read }) =>
      given({ name: read.name, access: read.access, allowIps, denyIps, redirectOrigins, expiresAt }),
  );
};

/** Reads the status that the button of a form names. */
export const statusOf = <Status extends string>(fields: Fields, statuses: ReadonlyArray<Status>) => {
  const status = statuses.find((known) => known === fields("status"));
  return status === undefined
    ? InvalidParameter.one("status", `expected one of ${statuses.join(", ")}`)
    : Effect.succeed(status);
};

/** Reads from the form how many seconds the key's previous secrets stay valid after a rotation. */
export const graceOf = (
  id: KeyId,
  fields: Fields,
): Effect.Effect<number, MissingParameter | InvalidParameter | InvalidBody> => {
  const typed = fields("graceSeconds").trim();
  const raw = { id, graceSeconds: typed === "" ? undefined : Number(typed) };
  return Effect.map(Effect.fromResult(readRotation(raw, "global")), ({ graceSeconds }) => graceSeconds);
};
