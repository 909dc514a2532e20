import {
  type BulkLimitExceeded,
  BulkLookup,
  type ChatId,
  type GameId,
  InvalidParameter,
  LinkLookup,
  type LinkNotFound,
  type LinkStore,
  LinkWriter,
  type StoreUnavailable,
} from "@accountlink/core";
import type { BlockStore } from "@accountlink/core/admission";
import { partsOf } from "@accountlink/core/group_by";
import {
  type ImportOptions,
  type ImportStore,
  importLinks,
  type LinkFormatName,
  type LinkReaderName,
  linkFileOf,
  linkReaders,
  type ReadOptions,
} from "@accountlink/core/imports";
import type { KeyStore } from "@accountlink/core/keys";
import { forEachLimited } from "@accountlink/core/limited_loops";
import { allLinks, type BulkItem, type BulkItemError, maxBulkInputs } from "@accountlink/core/links";
import type { GuildError } from "@accountlink/core/platforms";
import { Secrets } from "@accountlink/core/secrets";
import { Context, Effect, Layer, Predicate, type Result, Schema, Stream, Struct } from "effect";
import type { Digest } from "effect/crypto";
import * as Accept from "./accept.ts";
import { method, streamMethod } from "./method.ts";
import {
  type ActorOptions,
  type CallOptions,
  callGuild,
  originOf,
  Scope,
  type WriteOptions,
  writeTarget,
} from "./scope.ts";
import { withSpans } from "./spans.ts";

export interface LookupOptions extends CallOptions {
  /** Whether to add the profiles of both users; false if left out. */
  readonly resolved?: boolean;
}

/** A file of links: a function that opens it, or a pipe, which can be read only once. */
export type LinkFile = (() => AsyncIterable<Uint8Array>) | AsyncIterable<Uint8Array>;

export interface LinkImport
  extends ImportOptions,
    Omit<ReadOptions, "isRepeatable" | "unreadColumns" | "isGuildOptional">,
    ActorOptions {
  /** The format of the file; detected from its beginning if left out. */
  readonly format?: LinkReaderName;
}

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
export class Links extends Context.Service<Links>()("accountlink/Links", {
  make: Effect.gen(function* () {
    const scope = yield* Scope;
    const lookup = yield* LinkLookup;
    const bulk = yield* BulkLookup;
    const writer = yield* LinkWriter;
    const { blockHash } = yield* Secrets;
    const services = yield* Effect.context<BlockStore | ImportStore | KeyStore | LinkStore | Digest.Digest>();
    const all = () => Stream.provideContext(allLinks(scope.pid), services);

    const lookupOptions = ({ resolved = false, ...options }: LookupOptions = {}) => ({
      guildId: callGuild(scope, options),
      resolved,
    });

    return {
      /** Returns the game user of a chat user; null if they are not linked. */
      get: method([Accept.chatId, Accept.looking], (chatId: ChatId, options?: LookupOptions) =>
        orNull(lookup.byChat(scope, chatId, lookupOptions(options))),
      ),

      /**
       * Looks up the game users of any number of chat users. Returns them in the order of the chat users, with null for
       * each chat user without a link or outside of the guild.
       */
      getMany: method(
        [["chatIds", Accept.listOf(Accept.anyChatId)], Accept.looking],
        (chatIds: ReadonlyArray<ChatId>, options?: LookupOptions) =>
          eachOrNull(chatIds, (part) => bulk.byChats(scope, part, lookupOptions(options))),
      ),

      /** Returns the chat users of a game user, newest link first; null if there are none. */
      byGame: method([Accept.gameId, Accept.looking], (gameId: GameId, options?: LookupOptions) =>
        orNull(lookup.byGame(scope, gameId, lookupOptions(options))),
      ),

      /**
       * Looks up the chat users of any number of game users. Returns one result for each game user, in the order of
       * `gameIds`: its chat users, newest link first, or null if there are none.
       */
      byGameMany: method(
        [["gameIds", Accept.listOf(Accept.anyGameId)], Accept.looking],
        (gameIds: ReadonlyArray<GameId>, options?: LookupOptions) =>
          eachOrNull(gameIds, (part) => bulk.byGames(scope, part, lookupOptions(options))),
      ),

      /**
       * Returns whether a chat user is linked, with the version and hash of the link and the time of the last
       * verification.
       */
      verification: method([Accept.chatId, Accept.looking], (chatId: ChatId, options?: LookupOptions) =>
        lookup.verification(scope, chatId, lookupOptions(options)),
      ),

      /** Links a chat user to a game user, who must exist. The result names the previous game user. */
      set: method(
        [Accept.chatId, Accept.gameId, Accept.writing],
        (chatId: ChatId, gameId: GameId, options?: WriteOptions) =>
          writer.setGame(writeTarget(scope, options), { chatId, gameId }),
      ),

      /** Moves the link of a chat user to another chat user. Fails with `Conflict` if that user is already linked. */
      move: method(
        [Accept.chatId, ["newChatId", Accept.anyChatId], Accept.writing],
        (chatId: ChatId, newChatId: ChatId, options?: WriteOptions) =>
          writer.moveChat(writeTarget(scope, options), { oldChatId: chatId, newChatId }),
      ),

      /** Removes the link of a chat user. The user's open sessions end as `failed`. */
      delete: method([Accept.chatId, Accept.writing], (chatId: ChatId, options?: WriteOptions) =>
        writer.removeGame(writeTarget(scope, options), chatId, { requireMember: false }),
      ),

      /** Deletes every record of the scope, and returns the number of deleted records. */
      deleteAll: method([Accept.acting], (options?: ActorOptions) =>
        writer.deleteScope(writeTarget(scope, options)),
      ),

      /** Streams every link of the scope, sorted by chat ID as text. */
      all,

      /**
       * Imports a file of links of any size, without asking the platforms. The event feed gets `links.imported` instead
       * of an event for each link. The import checks the whole file before it stores a row, but stores the rows of a
       * pipe as they arrive, because a pipe can be read only once. It leaves out wrong rows, or fails if `strict` is set.
       * A repeated import resumes an interrupted import. A complete import begins again, since links may have changed.
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
      import: method([["file", anyFile], importing], (file: LinkFile, options?: LinkImport) =>
        Effect.suspend(() => {
          const unreadColumns = new Set<string>();
          const isRepeatable = typeof file === "function";
          const reading = { ...options, isRepeatable, unreadColumns };
          return importLinks(
            {
              lines: linkReaders[options?.format ?? "auto"](bytesOf(file), reading),
              isRepeatable,
              unreadColumns,
            },
            {
              findScope: Effect.succeed(scope.pid),
              origin: originOf(options),
              file: { id: crypto.randomUUID(), name: "a file", isUndoable: false },
              chatHash: (pid, chatId) => blockHash(pid, { chatId, gameId: null }),
            },
            options,
          );
        }).pipe(Effect.provideContext(services)),
      ),

      /** Streams the text of a file with every link of the scope, in constant memory. `import` can read it. */
      export: streamMethod([["format", Accept.oneOf(["csv", "ndjson"])]], (format: LinkFormatName) =>
        linkFileOf(all(), format),
      ),
    };
  }).pipe(withSpans("Links")),
}) {
  static readonly layer = Layer.effect(Links, Links.make);
}

const isAsyncIterable = (given: unknown): given is AsyncIterable<unknown> =>
  Predicate.isObject(given) && Symbol.asyncIterator in given;
const anyFile = Accept.that(
  (given): given is LinkFile => typeof given === "function" || isAsyncIterable(given),
  "a function that opens the file, or an async iterable",
);
const notBytes = InvalidParameter.one("file", "expected an async iterable of Uint8Array");
const importing = Accept.options({
  ...Accept.byActor,
  ...Accept.inGuild,
  format: Accept.maybe(Accept.oneOf(Struct.keys(linkReaders))),
  onConflict: Accept.maybe(Accept.oneOf(["keep", "replace", "newest"])),
  dryRun: Accept.maybe(Accept.flag),
  strict: Accept.maybe(Accept.flag),
  fromStart: Accept.maybe(Accept.flag),
  givesWay: Accept.maybe(Accept.flag),
  chatColumn: Accept.maybe(Accept.text),
  gameColumn: Accept.maybe(Accept.text),
  timeColumn: Accept.maybe(Accept.text),
  verifiedColumn: Accept.maybe(Accept.text),
  verifiedWords: Accept.maybe(Schema.Record(Schema.String, Accept.oneOf(["yes", "no", "skip"]))),
  ignoreColumns: Accept.maybe(Accept.listOf(Accept.text)),
  unclearTimes: Accept.maybe(Accept.oneOf(["day-first", "month-first", "unknown"])),
} satisfies Readonly<Record<keyof LinkImport, unknown>>);

const bytesOf = (file: LinkFile): Stream.Stream<Uint8Array, InvalidParameter> =>
  Stream.suspend(() => {
    const opened: unknown = typeof file === "function" ? file() : file;
    if (!isAsyncIterable(opened)) return Stream.fail(notBytes);
    return Stream.orDie(Stream.fromAsyncIterable(opened, (cause) => cause)).pipe(
      Stream.mapEffect((part) => (part instanceof Uint8Array ? Effect.succeed(part) : Effect.fail(notBytes))),
    );
  });

type Lookup<A> = Effect.Effect<A, GuildError | StoreUnavailable | LinkNotFound>;
type Bulk<A> = Effect.Effect<ReadonlyArray<BulkItem<A>>, GuildError | StoreUnavailable | BulkLimitExceeded>;

const orNull = <A>(lookup: Lookup<A>) =>
  Effect.catchTag(lookup, "LinkNotFound", () => Effect.succeed<A | null>(null));

/** Looks up any number of IDs, in chunks of `maxBulkInputs` IDs, the limit of a bulk lookup over HTTP. */
const eachOrNull = <Id, A>(ids: ReadonlyArray<Id>, lookup: (part: ReadonlyArray<Id>) => Bulk<A>) =>
  forEachLimited(partsOf(ids, maxBulkInputs), 4, lookup).pipe(
    Effect.catchTag("BulkLimitExceeded", Effect.die),
    Effect.flatMap((parts) => Effect.forEach(parts.flat(), ({ result }) => foundOrNull(result))),
  );

const foundOrNull = <A>(result: Result.Result<A, BulkItemError>) =>
  Effect.fromResult(result).pipe(
    Effect.map((found): A | null => found),
    Effect.catchTag(["LinkNotFound", "Forbidden"], () => Effect.succeed(null)),
  );
