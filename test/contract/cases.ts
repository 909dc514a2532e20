/** The coverage table of the contract: for each route, a request for every documented answer. */
import { routes } from "@accountlink/http-api";
import { expect } from "vitest";
import { botlessGuild, emptyGuild, type Fixtures, guild, newToken } from "../support/fixtures.ts";
import { type Case, type Differences, isV1, Writer, when } from "./case_writer.ts";
import { syncing, unmanaging, v2Recipes } from "./recipes.ts";
import { v1Recipes } from "./recipes_v1.ts";

export const addAccounts = (fixtures: Fixtures): void => {
  fixtures.account({ name: unmanaging, chatId: "100031" });
  fixtures.plan({
    account: syncing,
    guildId: guild,
    rules: [
      { roleId: "1", when: { is: "linked" } },
      { roleId: "1", when: { is: "unlinked" } },
    ],
  });
};

/** Adds the key of a case, with the links that cases expect. Returns the complete key; null for a case without one. */
export const addKey = (fixtures: Fixtures, key: Case["key"]): string | null =>
  key === null ? null : fixtures.key({ ...key, links: { 100001: "1", 100002: "2" } });

const withBody = new Set(routes.filter(({ source }) => source === "body").map(({ id }) => id));
const isIdempotent = new Set(routes.filter((route) => route.isIdempotent).map(({ id }) => id));

const anything: unknown = expect.any(String);

const membershipMessages = {
  user_not_in_guild: "User is not in the guild",
  new_user_not_in_guild: "New user is not in the guild",
};

const successes = (route: Writer): ReadonlyArray<Case> => {
  const { good, data, guilds, status = 200, hasSession, access: accesses = [] } = route.recipe;
  const session: Differences = hasSession === true ? { session: "pending" } : {};
  const success = (title: string, differences: Differences) =>
    route.row(`${status} -`, title, data, { ...session, ...differences });
  return [
    success("a request without a guild", {}),
    ...accesses.map((chosen) => success(`a key for ${chosen}`, { key: { access: chosen } })),
    ...when(
      !route.isOpen,
      success("a guild-scoped key", {
        key: { guildId: guild },
        values: guilds === "none" ? good : { ...good, guildId: guild },
      }),
    ),
    ...when(guilds === undefined, success("a global key in a guild", route.inGuild(guild))),
  ];
};

const parameters = (route: Writer): ReadonlyArray<Case> => {
  const { good, required, invalid, guilds, guildRequired } = route.recipe;
  const [wrong = "Service-Version"] = Object.keys(invalid ?? {});
  const unknownVersion = { raw: { headers: { "service-version": "2025-01-01" } } };
  const missing = (title: string, names: ReadonlyArray<string>, differences: Differences) =>
    route.row(
      "400 MISSING_PARAMETER",
      title,
      route.says({ parameters: names }, `Missing required parameters: ${names.join(", ")}`),
      differences,
    );
  return [
    route.row("400 BAD_REQUEST", "broken percent-encoding", route.says(null, anything), {
      raw: { query: "%zz=1" },
    }),
    ...when(
      invalid !== undefined || !isV1(route.route),
      route.row(
        "400 INVALID_PARAMETER",
        "a wrong value",
        route.says({ parameters: [{ name: wrong, reason: anything }] }, `Invalid parameter: ${wrong}`),
        invalid === undefined ? unknownVersion : { values: { ...good, ...invalid } },
      ),
    ),
    ...when(required.length > 0, missing("nothing given", required, { values: {} })),
    ...when(
      guilds !== "none" && guildRequired !== false,
      missing("no guild", ["guildId"], { key: { guildId: guild } }),
    ),
  ];
};

const bodies = (route: Writer): ReadonlyArray<Case> => {
  const refused = (status: 400 | 413 | 415, title: string, body: string | undefined, type?: string) =>
    route.row(`${status} INVALID_BODY`, title, route.says({ reason: anything }, "Invalid request body"), {
      values: {},
      raw: {
        headers: { "content-type": type ?? "application/json" },
        ...(body === undefined ? {} : { body }),
      },
    });
  return when(
    withBody.has(route.route),
    refused(400, "no body", undefined),
    refused(400, "broken JSON", '{"chatId":'),
    ...(route.route === "reportLeakedKey" ? lists(route) : [refused(400, "a list", "[]")]),
    refused(413, "more than 64 KiB", JSON.stringify({ ...route.recipe.good, padding: "x".repeat(65_536) })),
    refused(415, "a form", "chatId=100001", "application/x-www-form-urlencoded"),
  );
};

const lists = (route: Writer): ReadonlyArray<Case> => {
  const report = { token: "x", type: "accountlink_key" };
  const labels = [{ token_raw: "x", token_type: "accountlink_key", label: "false_positive" }];
  return [
    route.row("200 -", "a list", JSON.stringify(labels), { raw: { body: [report] } }),
    route.row("400 INVALID_BODY", "a list of texts", { reason: anything }, { raw: { body: ["x"] } }),
    route.row(
      "400 BULK_LIMIT_EXCEEDED",
      "a list that is too long",
      { limit: 100, received: 101 },
      { raw: { body: Array.from({ length: 101 }, () => report) } },
    ),
  ];
};

const access = (route: Writer): ReadonlyArray<Case> => {
  const { good, guilds, member, strange, resolved, tier, access: accesses = [] } = route.recipe;
  const hasRedirect = route.route === "getVerification";
  const unauthorized = (title: string, differences: Differences) =>
    route.row(
      "401 INVALID_API_KEY",
      title,
      route.says(null, "Unauthorized: missing or invalid API key"),
      differences,
    );
  const forbidden = (reason: string, message: string, differences: Differences) =>
    route.row("403 FORBIDDEN", reason, route.says({ reason }, message), differences);
  return [
    ...when(
      !route.isOpen,
      unauthorized("an unknown key", { key: null, raw: { key: newToken() } }),
      unauthorized("no key in the header", { key: null, raw: { headers: { authorization: "Bearer" } } }),
      unauthorized("a revoked key", { key: { status: "revoked" } }),
      forbidden("ip_not_allowed", "IP address not allowed", { key: { allowIps: ["192.0.2.0/24"] } }),
    ),
    ...(["read", "verify", "game"] as const)
      // A key for `game` may use all that a key for `verify` may.
      .filter((chosen) => !route.isOpen && !accesses.includes(chosen === "game" ? "verify" : chosen))
      .map((chosen) =>
        route.row(
          "403 FORBIDDEN",
          `a key for ${chosen}`,
          route.says({ reason: "key_access" }, "This API key may not do that"),
          { key: { access: chosen } },
        ),
      ),
    ...when(
      guilds !== "none",
      forbidden("wrong_guild", "Guild does not match this API key", {
        key: { guildId: guild },
        values: { ...good, guildId: emptyGuild },
      }),
      forbidden("bot_not_in_guild", "Bot is not in the guild", route.inGuild(botlessGuild)),
    ),
    ...when(
      guilds === undefined,
      forbidden("not_guild_manager", "Guild is not managed by the account of this API key", {
        ...route.inGuild(guild),
        key: { account: unmanaging },
      }),
    ),
    ...when(!route.isOpen && !hasRedirect, unauthorized("no key", { key: null })),
    ...when(hasRedirect, route.row("302 -", "no key", "/verify?chatId=100001", { key: null })),
    ...(member === undefined
      ? []
      : [forbidden(member, membershipMessages[member], route.inGuild(guild, strange))]),
    ...when(
      tier !== undefined,
      route.row("403 PREMIUM_REQUIRED", "a free key", route.says(null, "Premium required"), {
        key: { tier: "free", guildId: guild },
        values: { ...good, guildId: guild },
      }),
    ),
    ...when(
      resolved === true,
      route.row("403 PREMIUM_REQUIRED", "resolved with a free key", null, {
        values: { ...good, resolved: true },
      }),
    ),
  ];
};

const limits = (route: Writer): ReadonlyArray<Case> => {
  const [day, daily, message] =
    route.recipe.isVerify === true
      ? (["verify_day", "verifyDaily", "Daily verification limit of 1 exceeded"] as const)
      : (["day", "daily", "Daily request limit of 1 exceeded"] as const);
  const shared = (bucket: string, differences: Differences) =>
    route.row(
      "429 SHARED_IP_RATE_LIMITED",
      bucket,
      route.says({ bucket }, "Too many requests from this IP address"),
      { before: 3, ...differences },
    );
  return [
    shared("ip_auth", {
      isThrottled: true,
      ...(route.isOpen ? {} : { key: null, raw: { key: newToken() } }),
    }),
    ...when(
      !route.isOpen,
      shared(`ip_${day}`, {}),
      route.row("429 RATE_LIMITED", day, route.says({ bucket: day }, message), {
        key: { limits: { perWindow: 0, [daily]: 1 } },
        before: 1,
      }),
    ),
  ];
};

/** @param unaskedGuild a guild that no other case uses, so that the service has cached nothing about it */
const failures = (route: Writer, unaskedGuild: string): ReadonlyArray<Case> => {
  const unavailable = (title: string, differences: Differences) =>
    route.row("503 INTERNAL_ERROR", title, route.says(null, "Service unavailable"), differences);
  return [
    route.row("500 INTERNAL_ERROR", "a store with a bug", route.says(null, "Internal server error"), {
      surroundings: "stores broken",
    }),
    unavailable("a store out of reach", { surroundings: "stores down" }),
    ...when(
      ["getEvents", "streamEvents"].includes(route.route),
      route.row(
        "409 CONFLICT",
        "events are gone",
        { reason: "cursor_expired" },
        { surroundings: "events swept" },
      ),
    ),
    ...when(
      route.recipe.guilds !== "none",
      unavailable("a platform out of reach", {
        surroundings: "chat platform down",
        ...route.inGuild(unaskedGuild),
      }),
    ),
  ];
};

const sessionRefusals = (route: Writer): ReadonlyArray<Case> =>
  when(
    route.recipe.hasSession === true,
    route.row("404 SESSION_NOT_FOUND", "a sid of nobody", route.says(null, "Verification session not found")),
    route.row(
      "410 SESSION_EXPIRED",
      "a session over time",
      route.says(null, "Verification session expired"),
      { session: "expired", surroundings: "sessions short" },
    ),
    ...when(
      route.route === "cancelSession",
      route.row(
        "409 CONFLICT",
        "a session that is final",
        { reason: "session_cancelled" },
        { session: "cancelled" },
      ),
    ),
  );

const idempotency = (route: Writer): ReadonlyArray<Case> =>
  when(
    isIdempotent.has(route.route),
    route.row(
      "409 CONFLICT",
      "an idempotency key of another request",
      { reason: "idempotency_key_reused" },
      { isReusing: true },
    ),
  );

const others = ({ route, recipe }: Writer): ReadonlyArray<Case> =>
  (recipe.others ?? []).map((other) => ({
    ...other,
    route,
    title: JSON.stringify(other.values).slice(0, 60),
    key: { tier: "premium", ...other.key },
  }));

export const cases: ReadonlyArray<Case> = Object.entries({ ...v2Recipes, ...v1Recipes }).flatMap(
  ([id, recipe], index) => {
    const route = new Writer(id, recipe);
    return [
      ...successes(route),
      ...parameters(route),
      ...bodies(route),
      ...access(route),
      ...limits(route),
      ...idempotency(route),
      ...sessionRefusals(route),
      ...failures(route, `9000000000000000${index + 10}`),
      ...others(route),
    ];
  },
);
