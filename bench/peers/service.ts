/**
 * What the peers have in common: the routes of the bench as a competent engineer writes them by hand, with nothing around
 * them. They do what the real server does for a request, and answer with the same headers and the same body. A peer adds
 * a framework and a store, which keeps keys, links and counts where the deployment that it is compared with does.
 */
import {
  type Exchange,
  forbidden,
  type KeyedExchange,
  openExchange,
  Refusal,
  refuse,
  type Success,
  succeed,
} from "./answers.ts";
import { isAllowedFrom, type Key } from "./keys.ts";
import {
  chatIdPattern,
  expectedChatId,
  invalid,
  maxBulk,
  readBody,
  readChatId,
  readCommon,
  readGameId,
  requireAll,
} from "./parameters.ts";
import { hasGameUser, hasGuild, hasMember } from "./platform.ts";
import {
  type Answer,
  andThen,
  type Eventual,
  type PeerRequest,
  type PeerRoute,
  type Store,
} from "./ports.ts";

// Guilds

const requireGuild = (guildId: string | null): Eventual<void> =>
  guildId === null
    ? undefined
    : andThen(hasGuild(guildId), (found) => {
        if (!found) throw forbidden("bot_not_in_guild", "Bot is not in the guild");
      });

const requireMember = (guildId: string | null, chatId: string): Eventual<void> =>
  guildId === null
    ? undefined
    : andThen(hasMember(guildId, chatId), (found) => {
        if (!found) throw forbidden("user_not_in_guild", "User is not in the guild");
      });

// Routes

/** One for all: to make an error is to walk the stack. */
const notFound = new Refusal(404, "LINK_NOT_FOUND", "No matching link");
const unresolved = { game: null, chat: null };

type Handler = (exchange: KeyedExchange) => Eventual<Success>;

/** The token of an `Authorization` header, empty when there is none. */
const bearerToken = (authorization: string | undefined): string =>
  authorization?.startsWith("Bearer ") === true ? authorization.slice(7) : "";

const checkKey = (key: Key | undefined, ip: string, now: number): Key => {
  if (key?.status !== "active" || (key.expiresAt !== null && key.expiresAt <= now)) {
    throw new Refusal(401, "INVALID_API_KEY", "Unauthorized: missing or invalid API key");
  }
  if (!isAllowedFrom(key, ip)) throw forbidden("ip_not_allowed", "IP address not allowed");
  return key;
};

const answerCounts = new Map<string, number>();

const counted = (name: string, answer: Answer): Answer => {
  const label = `${name} ${answer.status}`;
  answerCounts.set(label, (answerCounts.get(label) ?? 0) + 1);
  return answer;
};

/** The routes on a store. */
export const routesOn = (store: Store): ReadonlyArray<PeerRoute> => {
  const keyed =
    (name: string, handle: Handler) =>
    (request: PeerRequest): Eventual<Answer> => {
      const exchange: Exchange = openExchange(request);
      const { now } = exchange;
      try {
        const answer = andThen(store.findKey(bearerToken(request.authorization), now), (found) => {
          const key = checkKey(found, request.ip, now);
          exchange.key = key;
          return andThen(store.admit(key, request.ip, now), (limits) => {
            exchange.limits = limits;
            return andThen(handle(exchange as KeyedExchange), (success) =>
              counted(name, succeed(exchange, success)),
            );
          });
        });
        return answer instanceof Promise
          ? answer.catch((thrown) => counted(name, refuse(exchange, thrown)))
          : answer;
      } catch (thrown) {
        return counted(name, refuse(exchange, thrown));
      }
    };

  const getChat: Handler = ({ request, key }) => {
    requireAll(request.query, "chatId");
    const chatId = readChatId("chatId", request.query["chatId"]);
    const guildId = readCommon(request.query, request);
    return andThen(requireGuild(guildId), () =>
      andThen(requireMember(guildId, chatId), () =>
        andThen(store.findGame(key.pid, chatId), (gameId) => {
          if (gameId === null || gameId === undefined) throw notFound;
          return { data: { chatId, gameId, resolved: unresolved } };
        }),
      ),
    );
  };

  const getGame: Handler = ({ request, key }) => {
    requireAll(request.query, "gameId");
    const gameId = readGameId(request.query["gameId"]);
    if (readCommon(request.query, request) !== null) throw invalid("guildId", "guilds are not served here");
    return andThen(store.findChats(key.pid, gameId), (chatIds) => {
      if (chatIds.length === 0) throw notFound;
      return { data: { gameId, chatIds, count: chatIds.length, resolved: unresolved } };
    });
  };

  const bulkChat: Handler = ({ request, key }) => {
    const body = readBody(request);
    requireAll(body, "chatIds");
    const chatIds = body["chatIds"] as ReadonlyArray<unknown>;
    if (!Array.isArray(chatIds) || chatIds.length === 0) throw invalid("chatIds", "expected 1 to 50 IDs");
    if (!chatIds.every((chatId) => typeof chatId === "string")) {
      throw new Refusal(400, "INVALID_BODY", "Invalid request body", { reason: "expected strings" });
    }
    if (chatIds.length > maxBulk) throw new Refusal(400, "BULK_LIMIT_EXCEEDED", "Too many IDs");
    if (readCommon(body, request) !== null) throw invalid("guildId", "guilds are not served here");
    const readable = chatIds.filter((chatId) => chatIdPattern.test(chatId));
    return andThen(store.findGames(key.pid, readable), (games) => {
      const items = chatIds.map((chatId: string) => bulkItem(chatId, games.get(chatId)));
      return {
        data: { results: items, count: items.length, ...countItems(items), resolved: false },
        bulk: { uniqueInputs: new Set(chatIds).size, maxInputs: maxBulk },
      };
    });
  };

  const patchGame: Handler = ({ request, key, requestId, now }) => {
    const body = readBody(request);
    requireAll(body, "chatId", "gameId");
    const chatId = readChatId("chatId", body["chatId"]);
    const gameId = readGameId(body["gameId"]);
    const guildId = readCommon(body, request);
    return andThen(requireGuild(guildId), () =>
      andThen(requireMember(guildId, chatId), () =>
        andThen(hasGameUser(gameId), (exists) => {
          if (!exists) throw invalid("gameId", "expected a user of the game platform, found none");
          return andThen(
            store.setGame({ pid: key.pid, keyId: key.id, requestId, now, chatId, gameId }),
            (previousGameId) => ({
              data: { chatId, gameId, previousGameId, updated: previousGameId !== gameId },
            }),
          );
        }),
      ),
    );
  };

  return [
    { method: "GET", path: "/v2/chat", answer: keyed("getChat", getChat) },
    { method: "GET", path: "/v2/game", answer: keyed("getGame", getGame) },
    { method: "POST", path: "/v2/chat/bulk", answer: keyed("bulkChat", bulkChat) },
    { method: "PATCH", path: "/v2/game", answer: keyed("patchGame", patchGame) },
  ];
};

const bulkItem = (chatId: string, gameId: string | undefined) => {
  const input = { chatId };
  if (gameId !== undefined) {
    return { input, found: true, data: { chatId, gameId, resolved: unresolved }, error: null };
  }
  const error = chatIdPattern.test(chatId)
    ? { code: "LINK_NOT_FOUND", message: "No matching link", details: null, status: 404 }
    : {
        code: "INVALID_PARAMETER",
        message: `Invalid parameter: chatId (${expectedChatId})`,
        details: { parameters: [{ name: "chatId", reason: expectedChatId }] },
        status: 400,
      };
  return { input, found: false, data: null, error };
};

const countItems = (items: ReadonlyArray<ReturnType<typeof bulkItem>>) => {
  let foundCount = 0;
  let notFoundCount = 0;
  for (const { found, error } of items) {
    if (found) foundCount++;
    else if (error?.status === 404) notFoundCount++;
  }
  return { foundCount, notFoundCount, errorCount: items.length - foundCount - notFoundCount };
};
