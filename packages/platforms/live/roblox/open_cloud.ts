/**
 * Roblox's Open Cloud, which takes a key and publishes its limits: 1,000 users, 300 pages of groups and 100 inventories
 * in a minute.
 */
import { type GameId, PlatformUnavailable } from "@accountlink/core";
import { monotonicMillis } from "@accountlink/core/monotonic_millis";
import {
  ChargedAccount,
  type GameGroup,
  type GroupPage,
  groupPageSize,
  type ItemOwnership,
  type RankedGroup,
} from "@accountlink/core/platforms";
import { Cache, Duration, Effect, Exit, Option, Redacted, Result, Schema } from "effect";
import { HttpClient, HttpClientRequest } from "effect/http";
import {
  defaultResilience,
  entriesOf,
  nullish,
  RequestFailed,
  type Resilience,
  resilientClient,
  unlessOdd,
} from "../../http/mod.ts";
import { ask, type Route, type RouteRequest } from "../answers.ts";
import { byRank, isRobloxId, type RobloxItem, type User } from "./roblox_api.ts";

/**
 * What Open Cloud says: an answer, or a refusal with what it means. The legacy route may know more than a refusal tells,
 * so it is asked as well.
 */
export type CloudAnswer<A> = Effect.Effect<Result.Result<A, A>, PlatformUnavailable>;

type Said<A> = Effect.fn.Return<Result.Result<A, A>, PlatformUnavailable>;

const CloudUser = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  displayName: nullish(Schema.String),
  about: nullish(Schema.String),
  createTime: nullish(Schema.DateTimeUtcFromString),
});

/** The fields that Open Cloud lacks, and the legacy route has. */
const untold = { isBanned: null, hasVerifiedBadge: null };

const CloudGroup = Schema.Struct({
  id: Schema.String,
  displayName: nullish(Schema.String),
  memberCount: nullish(Schema.Int),
});

const nextPageToken = nullish(Schema.String);

const Roles = Schema.Struct({
  groupRoles: entriesOf(
    Schema.Struct({
      id: Schema.String.check(Schema.makeFilter(isRobloxId)),
      displayName: nullish(Schema.String),
      rank: Schema.Int,
    }),
  ),
  nextPageToken,
});

/** The path of a role, such as `groups/7/roles/30`. */
const RolePath = Schema.String.check(Schema.isPattern(/^groups\/\d{1,16}\/roles\/\d{1,16}$/u));

const Memberships = Schema.Struct({
  groupMemberships: entriesOf(
    Schema.Struct({
      path: unlessOdd(Schema.String),
      user: Schema.String.check(Schema.isPattern(/^users\/\d{1,16}$/u)),
      /** The highest role. */
      role: unlessOdd(RolePath),
      /** All roles. Left out before March 2026. */
      roles: unlessOdd(entriesOf(RolePath)),
    }),
    // A missing member would lose roles.
    { decides: true },
  ),
  nextPageToken,
});

const InventoryItems = Schema.Struct({
  inventoryItems: entriesOf(
    Schema.Struct({
      gamePassDetails: nullish(Schema.Struct({ gamePassId: nullish(Schema.String) })),
      badgeDetails: nullish(Schema.Struct({ badgeId: nullish(Schema.String) })),
      assetDetails: nullish(Schema.Struct({ assetId: nullish(Schema.String) })),
    }),
    // Who does not have the item would lose roles.
    { decides: true },
  ),
  nextPageToken,
});

type InventoryItem = (typeof InventoryItems.Type)["inventoryItems"][number];

const itemFilters = {
  gamepass: ["gamePassIds", ({ gamePassDetails }: InventoryItem) => gamePassDetails?.gamePassId],
  badge: ["badgeIds", ({ badgeDetails }: InventoryItem) => badgeDetails?.badgeId],
  asset: ["assetIds", ({ assetDetails }: InventoryItem) => assetDetails?.assetId],
} as const;

const rolePageSize = 20;

/** No group has more pages of roles. */
const mostRolePages = 50;

/** How old the roles of a group may be. */
const rolesAge = Duration.minutes(1);

/** How long nothing is asked after a refusal of the key, and at most after a 429. */
const longestRest = Duration.minutes(1);

/** Begins the cursors of Open Cloud. Those of the legacy route have only letters of base64. */
const cursorMark = "cloud:";

/** Returns the last ID of a path such as `groups/7/roles/30`. */
const idIn = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** Returns the group of a path such as `groups/7/roles/30`. */
const groupIn = (path: string): string => path.split("/")[1] ?? "";

type Membership = (typeof Memberships.Type)["groupMemberships"][number];

const rolePathsOf = ({ role, roles }: Membership, groupId: string): ReadonlyArray<string> => {
  const paths = [...new Set([...(role ? [role] : []), ...(roles ?? [])])];
  return paths.filter((path) => groupIn(path) === groupId);
};

const groupOf = ({ path, role, roles }: Membership): string => groupIn(role ?? roles?.[0] ?? path ?? "");

/** @internal */
export const makeOpenCloud = Effect.fnUntraced(function* (
  http: HttpClient.HttpClient,
  key: Redacted.Redacted,
  resilience: Partial<Resilience> = {},
) {
  const keyed = HttpClient.mapRequest(http, HttpClientRequest.setHeader("x-api-key", Redacted.value(key)));
  const { attemptTimeout } = { ...defaultResilience, ...resilience };

  /** Makes the client for a kind of questions. Each kind has its own limit, so it has its own circuit. */
  const makeAsk = Effect.fnUntraced(function* (platform: string) {
    // The legacy route answers sooner than a retry.
    const client = yield* resilientClient(keyed, platform, {
      ...resilience,
      retries: 0,
      deadline: attemptTimeout,
    });
    let restsUntil = 0;

    const restAfter = Effect.fnUntraced(function* ({ cause }: PlatformUnavailable) {
      if (!(cause instanceof RequestFailed)) return;
      const { status = 0, retryAfter = longestRest } = cause;
      if (![401, 403, 429].includes(status)) return;
      if (status !== 429) yield* Effect.logError("Cannot ask Open Cloud: it refuses the API key");
      const rest = status === 429 ? Duration.min(retryAfter, longestRest) : longestRest;
      restsUntil = (yield* monotonicMillis) + Duration.toMillis(rest);
    });

    return <const R extends Route, A>(route: R, request: RouteRequest<A>) =>
      Effect.flatMap(monotonicMillis, (now) =>
        now < restsUntil
          ? new PlatformUnavailable({ operation: request.operation, retryAfterMs: restsUntil - now })
          : Effect.tapError(ask(client, route, request), restAfter),
      ).pipe(
        // The legacy route is asked after every refusal, and charges for its own.
        Effect.updateService(
          ChargedAccount,
          (account) => account && { name: account.name, check: account.check, charge: Effect.void },
        ),
      );
  });

  const askUsers = yield* makeAsk("game_cloud_users");
  const askGroups = yield* makeAsk("game_cloud_groups");
  const askInventory = yield* makeAsk("game_cloud_inventory");

  const findUser = (operation: string, gameId: GameId): CloudAnswer<Option.Option<typeof User.Type>> =>
    Effect.map(
      askUsers("GET apis.roblox.com/cloud/v2/users/{user_id}", {
        operation,
        path: [gameId],
        found: CloudUser,
        matches: ({ id }) => id === gameId,
      }),
      Result.mapBoth({
        onSuccess: ({ id, name, displayName, about: description, createTime: created }) =>
          Option.some({ ...untold, id: Number(id), name, displayName, description, created }),
        onFailure: () => Option.none(),
      }),
    );

  const readRoles = Effect.fnUntraced(function* (groupId: string) {
    const operation = "GamePlatform.groupRoles";
    const roles: Array<(typeof Roles.Type)["groupRoles"][number]> = [];
    let pageToken: string | undefined;
    for (let page = 0; page < mostRolePages; page++) {
      const read = yield* askGroups("GET apis.roblox.com/cloud/v2/groups/{group_id}/roles", {
        operation,
        path: [groupId],
        query: { maxPageSize: rolePageSize, pageToken },
        found: Roles,
      });
      const { groupRoles, nextPageToken: next } = Result.getOrThrow(read);
      roles.push(...groupRoles);
      if (!next) return roles;
      pageToken = next;
    }
    return yield* new PlatformUnavailable({ operation });
  });

  const rolesOf = yield* Cache.makeWith(readRoles, {
    capacity: 100,
    timeToLive: (exit) => (Exit.isSuccess(exit) ? rolesAge : Duration.zero),
  });

  /** The paths of roles that groups do not list, with the list in which each was missed. */
  const missed = new WeakMap<object, Set<string>>();

  /**
   * Returns the roles that a member holds in a group. The roles of the group are read again for a role that is newer. The
   * rank of a role that the group does not list is unknown.
   */
  const rolesHeld = Effect.fnUntraced(function* (groupId: string, membership: Membership) {
    const paths = rolePathsOf(membership, groupId);
    if (paths.length === 0) return [null];
    const known = yield* Cache.get(rolesOf, groupId);
    const isNew = (path: string) =>
      known.every(({ id }) => id !== idIn(path)) && missed.get(known)?.has(path) !== true;
    if (paths.some(isNew)) yield* Cache.invalidate(rolesOf, groupId);
    const roles = yield* Cache.get(rolesOf, groupId);
    const named = new Map(roles.map((role) => [role.id, role]));
    return paths.map((path): GameGroup["role"] => {
      const role = named.get(idIn(path));
      if (role === undefined) missed.set(roles, (missed.get(roles) ?? new Set()).add(path));
      return role === undefined ? null : { id: Number(role.id), name: role.displayName, rank: role.rank };
    });
  });

  const findGroups = Effect.fnUntraced(function* (
    gameId: GameId,
    groupIds: ReadonlyArray<string>,
  ): Said<ReadonlyArray<GameGroup>> {
    const operation = "GamePlatform.findProfile";
    const page = yield* askGroups("GET apis.roblox.com/cloud/v2/groups/{group_id}/memberships", {
      operation,
      path: ["-"],
      query: { maxPageSize: groupPageSize, filter: `user in ['users/${gameId}']` },
      found: Memberships,
    });
    // A refusal does not tell that the user is in no group.
    if (Result.isFailure(page)) return yield* new PlatformUnavailable({ operation });
    const { groupMemberships, nextPageToken: next } = page.success;
    const needed = groupMemberships.filter(
      (membership) => idIn(membership.user) === gameId && groupIds.includes(groupOf(membership)),
    );
    if (next && needed.length < groupIds.length) return yield* new PlatformUnavailable({ operation });
    const groups = yield* Effect.forEach(needed, (membership) =>
      Effect.map(rolesHeld(groupOf(membership), membership), (roles) =>
        roles.map((role) => ({
          id: Number(groupOf(membership)),
          name: null,
          memberCount: null,
          hasVerifiedBadge: null,
          role,
        })),
      ),
    );
    // The legacy route may know a role that the group does not list.
    if (groups.flat().some(({ role }) => role === null)) return yield* new PlatformUnavailable({ operation });
    return Result.succeed(groups.flat());
  });

  const findGroup = Effect.fnUntraced(function* (groupId: string): Said<Option.Option<RankedGroup>> {
    const found = yield* askGroups("GET apis.roblox.com/cloud/v2/groups/{group_id}", {
      operation: "GamePlatform.findGroup",
      path: [groupId],
      found: CloudGroup,
      matches: ({ id }) => id === groupId,
    });
    if (Result.isFailure(found)) return Result.fail(Option.none());
    const { displayName: name, memberCount } = found.success;
    const roles = yield* Cache.get(rolesOf, groupId);
    const ranks = roles.map(({ rank, displayName }) => ({ rank, name: displayName ?? "" })).toSorted(byRank);
    return Result.succeed(Option.some({ id: groupId, name, memberCount, ranks }));
  });

  const groupMembers = Effect.fnUntraced(function* (
    groupId: string,
    cursor: string | null,
  ): Said<Option.Option<GroupPage>> {
    const operation = "GamePlatform.groupMembers";
    const page = yield* askGroups("GET apis.roblox.com/cloud/v2/groups/{group_id}/memberships", {
      operation,
      path: [groupId],
      query: { maxPageSize: groupPageSize, pageToken: cursor?.slice(cursorMark.length) },
      found: Memberships,
    });
    if (Result.isFailure(page)) return Result.fail(Option.none());
    const { groupMemberships, nextPageToken: next } = page.success;
    const members = yield* Effect.forEach(groupMemberships, (membership) =>
      Effect.map(rolesHeld(groupId, membership), (roles) =>
        roles.map((role) => ({ gameId: idIn(membership.user), role })),
      ),
    );
    return Result.succeed(Option.some({ members: members.flat(), next: next ? cursorMark + next : null }));
  });

  const hasItem = Effect.fnUntraced(function* (
    gameId: GameId,
    { item, itemId }: RobloxItem,
  ): Said<ItemOwnership> {
    const operation = "GamePlatform.hasItem";
    const [filter, idOf] = itemFilters[item];
    const found = yield* askInventory("GET apis.roblox.com/cloud/v2/users/{user_id}/inventory-items", {
      operation,
      path: [gameId],
      query: { maxPageSize: 100, filter: `${filter}=${itemId}` },
      found: InventoryItems,
    });
    if (Result.isFailure(found)) return Result.fail(found.failure);
    const { inventoryItems, nextPageToken: next } = found.success;
    if (inventoryItems.some((each) => idOf(each) === itemId)) return Result.succeed("owned");
    // Without the item on its only page, an inventory does not have it. An entry without an ID may be the item.
    return next || inventoryItems.some((each) => !idOf(each))
      ? yield* new PlatformUnavailable({ operation })
      : Result.succeed("not_owned");
  });

  return {
    findUser,
    findGroups,
    findGroup,
    groupMembers,
    hasItem,
    /** Whether a cursor belongs to Open Cloud, which alone can continue it. */
    isCursor: (cursor: string | null): boolean => cursor?.startsWith(cursorMark) === true,
  };
});
