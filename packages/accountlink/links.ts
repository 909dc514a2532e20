import {
  type BulkLimitExceeded,
  BulkLookup,
  type Conflict,
  type InvalidParameter,
  LinkLookup,
  type LinkNotFound,
  type LinkStore,
  LinkWriter,
  type StoreUnavailable,
} from "@accountlink/core";
import {
  allLinks,
  type BulkItem,
  type BulkItemError,
  type ChatLookup,
  type ChatUpdated,
  type GameLookup,
  type GameRemoved,
  type GameUpdated,
  type ImportOptions,
  type ImportOutcome,
  importLinks,
  type LinkFormatName,
  type LinkReaderName,
  linkFileOf,
  linkReaders,
  maxBulkInputs,
  type PortableLink,
  type ReadOptions,
  type UnreadableLinkFile,
  type VerificationStatus,
  type WrongLines,
} from "@accountlink/core/links";
import type { GuildError } from "@accountlink/core/platforms";
import { Array, Context, Effect, Layer, type Result, Stream } from "effect";
import type { Digest } from "effect/crypto";
import { chatIdOf, gameIdOf } from "./ids.ts";
import { type CallOptions, callGuild, originOf, Scope, type WriteOptions, writeTarget } from "./scope.ts";
import { checked, signatures } from "./signatures.ts";

export interface LookupOptions extends CallOptions {
  /** Whether to add the profiles of both users; false if left out. */
  readonly resolved?: boolean;
}

/** A file of links: a function that opens it, or a pipe, which can be read only once. */
export type LinkFile = (() => AsyncIterable<Uint8Array>) | AsyncIterable<Uint8Array>;

export interface LinkImport
  extends ImportOptions,
    Omit<ReadOptions, "unreadColumns">,
    Pick<WriteOptions, "actor"> {
  /** The format of the file; detected from its beginning if left out. */
  readonly format?: LinkReaderName;
}

type ReadError = InvalidParameter | GuildError | StoreUnavailable;
type WriteError = ReadError | Conflict;

/**
 * The links of a scope. A malformed ID fails with `InvalidParameter`.
 *
 * @example
 * ```ts
 * import { Effect } from "effect";
 *
 * const program = Effect.gen(function* () {
 *   const links = yield* Links;
 *   yield* links.set("100001", "1");
 *   return (yield* links.byGame("1"))?.chatIds;
 * });
 * const service = AccountLink.layerMemory({ gameUserExists: () => true });
 * await Effect.runPromise(Effect.provide(program, service)); // ["100001"]
 * ```
 */
export class Links extends Context.Service<
  Links,
  {
    /** Returns the game user of a chat user; null if they are not linked. */
    readonly get: (chatId: string, options?: LookupOptions) => Effect.Effect<ChatLookup | null, ReadError>;

    /**
     * Looks up the game users of any number of chat users. Returns them in the order of the chat users, with null for
     * each chat user who is not linked or not a member of the guild.
     */
    readonly getMany: (
      chatIds: ReadonlyArray<string>,
      options?: LookupOptions,
    ) => Effect.Effect<ReadonlyArray<ChatLookup | null>, ReadError>;

    /** Returns the chat users of a game user, newest link first; null if there are none. */
    readonly byGame: (gameId: string, options?: LookupOptions) => Effect.Effect<GameLookup | null, ReadError>;

    /**
     * Looks up the chat users of any number of game users. Returns one result for each game user, in the order of
     * `gameIds`: its chat users, newest link first, or null if there are none.
     */
    readonly byGameMany: (
      gameIds: ReadonlyArray<string>,
      options?: LookupOptions,
    ) => Effect.Effect<ReadonlyArray<GameLookup | null>, ReadError>;

    /**
     * Returns whether a chat user is linked, with the version and hash of the link and the time of the last
     * verification.
     */
    readonly verification: (
      chatId: string,
      options?: LookupOptions,
    ) => Effect.Effect<VerificationStatus, ReadError>;

    /** Links a chat user to a game user, who must exist. The result names the previous game user. */
    readonly set: (
      chatId: string,
      gameId: string,
      options?: WriteOptions,
    ) => Effect.Effect<GameUpdated, WriteError>;

    /** Moves the link of a chat user to another chat user. Fails with `Conflict` if that user is already linked. */
    readonly move: (
      chatId: string,
      newChatId: string,
      options?: WriteOptions,
    ) => Effect.Effect<ChatUpdated, WriteError | LinkNotFound>;

    /** Removes the link of a chat user. The user's open sessions end as `failed`. */
    readonly delete: (
      chatId: string,
      options?: WriteOptions,
    ) => Effect.Effect<GameRemoved, WriteError | LinkNotFound>;

    /** Deletes every record of the scope, and returns the number of deleted records. */
    readonly deleteAll: (options?: Pick<WriteOptions, "actor">) => Effect.Effect<number, WriteError>;

    /** Streams every link of the scope, sorted by chat ID as text. */
    readonly all: () => Stream.Stream<PortableLink, StoreUnavailable>;

    /**
     * Imports a file of links of any size, without asking the platforms. The event feed gets `links.imported` instead
     * of an event for each link. The import checks the whole file before it stores a row, but stores the rows of a
     * pipe as they arrive, because a pipe can be read only once. It leaves out wrong rows, or fails if `strict` is set.
     * A repeated import resumes an interrupted import, and does nothing if the import completed.
     *
     * An error thrown by the file becomes the cause of an `InternalError`.
     *
     * @example
     * ```ts
     * const al = await createAccountLink({ gameUserExists: () => true });
     * const encoder = new TextEncoder();
     * // Of a file on disk: () => createReadStream("links.csv")
     * const file = async function* () {
     *   yield encoder.encode("chatId,gameId,lastVerifiedAt\n");
     *   yield encoder.encode("100001,1,2026-01-01T00:00:00.000Z\n");
     * };
     * (await al.links.import(file)).inserted; // 1
     * (await al.links.import(file)).unchanged; // 1
     *
     * const wrong = async function* () {
     *   yield encoder.encode('{"discordId":"100002","robloxId":"2"}\n{"discordId":"100003"}\n');
     * };
     * const { inserted, reasons } = await al.links.import(wrong);
     * [inserted, reasons[0]?.reason]; // [1, "no_game_id"]
     * const refused = al.links.import(wrong, { strict: true });
     * await refused.catch((error: WrongLines) => error.details.count); // 1
     *
     * let text = "";
     * for await (const part of al.links.export("csv")) text += part;
     * text.split("\n")[1]; // "100001,1,2026-01-01T00:00:00.000Z"
     * await al.close();
     * ```
     */
    readonly import: (
      file: LinkFile,
      options?: LinkImport,
    ) => Effect.Effect<ImportOutcome, WrongLines | UnreadableLinkFile | StoreUnavailable>;

    /** Streams the text of a file with every link of the scope, in constant memory. `import` can read it. */
    readonly export: (format: LinkFormatName) => Stream.Stream<string, StoreUnavailable>;
  }
>()("accountlink/Links") {
  static readonly layer = Layer.effect(
    Links,
    Effect.gen(function* () {
      const scope = yield* Scope;
      const lookup = yield* LinkLookup;
      const bulk = yield* BulkLookup;
      const writer = yield* LinkWriter;
      const services = yield* Effect.context<LinkStore | Digest.Digest>();
      const all = () => Stream.provideContext(allLinks(scope.pid), services);

      const lookupOptions = ({ resolved = false, ...options }: LookupOptions = {}) =>
        Effect.map(callGuild(scope, options), (guildId) => ({ guildId, resolved }));

      return Links.of(
        checked<Links["Service"]>(
          {
            get: Effect.fnUntraced(function* (id, options) {
              return yield* orNull(lookup.byChat(scope, yield* chatIdOf(id), yield* lookupOptions(options)));
            }),

            getMany: Effect.fnUntraced(function* (ids, options) {
              const chatIds = yield* Effect.forEach(ids, (id) => chatIdOf(id));
              const chosen = yield* lookupOptions(options);
              return yield* eachOrNull(chatIds, (part) => bulk.byChats(scope, part, chosen));
            }),

            byGame: Effect.fnUntraced(function* (id, options) {
              return yield* orNull(lookup.byGame(scope, yield* gameIdOf(id), yield* lookupOptions(options)));
            }),

            byGameMany: Effect.fnUntraced(function* (ids, options) {
              const gameIds = yield* Effect.forEach(ids, gameIdOf);
              const chosen = yield* lookupOptions(options);
              return yield* eachOrNull(gameIds, (part) => bulk.byGames(scope, part, chosen));
            }),

            verification: Effect.fnUntraced(function* (id, options) {
              return yield* lookup.verification(scope, yield* chatIdOf(id), yield* lookupOptions(options));
            }),

            set: Effect.fnUntraced(function* (chat, game, options) {
              const link = { chatId: yield* chatIdOf(chat), gameId: yield* gameIdOf(game) };
              return yield* writer.setGame(yield* writeTarget(scope, options), link);
            }),

            move: Effect.fnUntraced(function* (chat, newChat, options) {
              const move = {
                oldChatId: yield* chatIdOf(chat),
                newChatId: yield* chatIdOf(newChat, "newChatId"),
              };
              return yield* writer.moveChat(yield* writeTarget(scope, options), move);
            }),

            delete: Effect.fnUntraced(function* (chat, options) {
              const target = yield* writeTarget(scope, options);
              return yield* writer.removeGame(target, yield* chatIdOf(chat), { requireMember: false });
            }),

            deleteAll: Effect.fnUntraced(function* (options) {
              return yield* writer.deleteScope(yield* writeTarget(scope, options));
            }),

            all,

            import: (file, { format = "auto", actor, ...options } = {}) =>
              Effect.suspend(() => {
                const unreadColumns = new Set<string>();
                const lines = linkReaders[format](bytesOf(file), { ...options, unreadColumns });
                return importLinks(
                  { lines, isRepeatable: typeof file === "function", unreadColumns },
                  {
                    findScope: Effect.succeed(scope.pid),
                    origin: originOf(actor === undefined ? {} : { actor }),
                  },
                  options,
                );
              }).pipe(Effect.provideContext(services)),

            export: (format) => linkFileOf(all(), format),
          },
          signatures.links,
        ),
      );
    }),
  );
}

const bytesOf = (file: LinkFile): Stream.Stream<Uint8Array> =>
  Stream.suspend(() =>
    Stream.orDie(Stream.fromAsyncIterable(typeof file === "function" ? file() : file, (cause) => cause)),
  );

type Lookup<A> = Effect.Effect<A, GuildError | StoreUnavailable | LinkNotFound>;
type Bulk<A> = Effect.Effect<ReadonlyArray<BulkItem<A>>, GuildError | StoreUnavailable | BulkLimitExceeded>;

const orNull = <A>(lookup: Lookup<A>) =>
  Effect.catchTag(lookup, "LinkNotFound", () => Effect.succeed<A | null>(null));

/** Looks up any number of IDs, in chunks of `maxBulkInputs` IDs, the limit of a bulk lookup over HTTP. */
const eachOrNull = <Id, A>(ids: ReadonlyArray<Id>, lookup: (part: ReadonlyArray<Id>) => Bulk<A>) =>
  Effect.forEach(Array.chunksOf(ids, maxBulkInputs), lookup, { concurrency: 4 }).pipe(
    Effect.catchTag("BulkLimitExceeded", Effect.die),
    Effect.flatMap((parts) => Effect.forEach(parts.flat(), ({ result }) => foundOrNull(result))),
  );

const foundOrNull = <A>(result: Result.Result<A, BulkItemError>) =>
  Effect.fromResult(result).pipe(
    Effect.map((found): A | null => found),
    Effect.catchTag(["LinkNotFound", "Forbidden"], () => Effect.succeed(null)),
  );
