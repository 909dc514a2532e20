/** The platforms of a service, given as functions of the embedding program or as a layer. */
import {
  type Cache,
  type ChatId,
  ChatIdentity,
  ChatPlatform,
  type GameId,
  GameIdentity,
  GamePlatform,
  type GuildId,
  PlatformUnavailable,
} from "@accountlink/core";
import {
  ChatUser,
  GameProfile,
  Guild,
  GuildMember,
  type IdentityProvider,
} from "@accountlink/core/platforms";
import { parseTimestamp } from "@accountlink/core/timestamp";
import { Effect, Layer, Option, Predicate, Record, Schema } from "effect";

/** Both platforms and their sign-ins. `accountlink/live` provides Discord and Roblox. */
export type Platforms = Layer.Layer<ChatPlatform | GamePlatform | ChatIdentity | GameIdentity, never, Cache>;

/**
 * The program's own platform data, as values, promises or effects. If a function throws, rejects or fails, the call
 * fails with `PlatformUnavailable`, which can be retried.
 */
export interface PlatformFunctions {
  /** Whether a game user exists, as `true` or `false`; anything else is a failure. Only existing users can be linked. */
  readonly gameUserExists: (gameId: GameId) => Answer<boolean>;
  /**
   * Returns the profile of a game user; null if the user does not exist. Without this function, lookups return no
   * profiles of game users.
   */
  readonly gameProfile?: (gameId: GameId) => Answer<Partial<GameProfile> | null>;
  /**
   * Returns a chat user; null if the user does not exist. Without this function, lookups return no profiles of chat
   * users.
   */
  readonly chatUser?: (chatId: ChatId) => Answer<Partial<ChatUser> | null>;
  /**
   * Returns a guild; null if the bot is not in the guild. Without this function, the bot is in no guild, so calls
   * cannot name a guild.
   */
  readonly guild?: (guildId: GuildId) => Answer<Partial<Guild> | null>;
  /**
   * Returns the membership of a chat user; null if the user is not a member. Without this function, nobody is a member.
   */
  readonly guildMember?: (guildId: GuildId, chatId: ChatId) => Answer<Partial<GuildMember> | null>;
}

type Answer<A> = A | Promise<A> | Effect.Effect<A, unknown>;

/** Makes platforms from the program's functions. Users cannot sign in at these platforms. */
export const platformsOf = (functions: PlatformFunctions): Platforms => {
  const { gameUserExists, gameProfile, chatUser, guild, guildMember } = functions;
  const find = finder();
  const findGuild = (id: GuildId) => find(asks.guild, guild, { id, name: null }, id);
  return Layer.mergeAll(
    Layer.succeed(GamePlatform, {
      hasUser: (id) =>
        Effect.filterOrFail(
          ask(asks.gameUserExists, () => gameUserExists(id)),
          (exists) => typeof exists === "boolean",
          (given) => notExpected(asks.gameUserExists, given, "true or false"),
        ),
      findProfile: (id) => find(asks.gameProfile, gameProfile, { ...noProfile, id }, id),
    }),
    Layer.succeed(ChatPlatform, {
      findGuild,
      findMember: (guildId, id) => find(asks.guildMember, guildMember, noMember, guildId, id),
      findUser: (id) => find(asks.chatUser, chatUser, { ...noUser, id }, id),
      joinedGuilds: (ids) =>
        Effect.map(
          Effect.filter(ids, (id) => Effect.map(findGuild(id), Option.isSome)),
          (joined) => new Set(joined),
        ),
      isManager: () => Effect.succeed(false),
    }),
    Layer.succeed(ChatIdentity, noSignIn("ChatIdentity.finish")),
    Layer.succeed(GameIdentity, noSignIn("GameIdentity.finish")),
  );
};

/** A function of the program, and the operation that asks it. */
interface Asked {
  readonly name: keyof PlatformFunctions;
  readonly operation: string;
}

interface AskedRecord extends Asked {
  readonly fields: Readonly<Record<string, Schema.Decoder<unknown>>>;
}

const asks = {
  gameUserExists: { name: "gameUserExists", operation: "GamePlatform.hasUser" },
  gameProfile: {
    name: "gameProfile",
    operation: "GamePlatform.findProfile",
    fields: GameProfile.fields,
  },
  chatUser: { name: "chatUser", operation: "ChatPlatform.findUser", fields: ChatUser.fields },
  guild: { name: "guild", operation: "ChatPlatform.findGuild", fields: Guild.fields },
  guildMember: { name: "guildMember", operation: "ChatPlatform.findMember", fields: GuildMember.fields },
} as const;

/** Without types, a program could return the `Response` of its fetch, which would link every user. */
const notExpected = ({ name, operation }: Asked, given: unknown, expected: string) => {
  const cause = new Error(`${name} returned a value of type ${typeof given}, expected ${expected}`);
  return new PlatformUnavailable({ operation, cause });
};

const ask = <A>({ operation }: Asked, answer: () => Answer<A>): Effect.Effect<A, PlatformUnavailable> => {
  const unavailable = (cause: unknown) => new PlatformUnavailable({ operation, cause });
  return Effect.flatMap(
    Effect.tryPromise({ try: async () => await answer(), catch: unavailable }),
    (given) => (Effect.isEffect(given) ? Effect.mapError(given, unavailable) : Effect.succeed(given)),
  );
};

/** Returns a function that asks for a record. It warns once about each field of the wrong kind. */
const finder = () => {
  const told = new Set<string>();
  /** @param rest default values for fields that `lookup` does not return */
  return <Args extends ReadonlyArray<string>, A extends object>(
    asked: AskedRecord,
    lookup: ((...args: Args) => Answer<Partial<A> | null>) | undefined,
    rest: A,
    ...args: Args
  ): Effect.Effect<Option.Option<A>, PlatformUnavailable> =>
    lookup === undefined
      ? Effect.succeedNone
      : Effect.flatMap(
          ask(asked, () => lookup(...args)),
          (found: unknown) => {
            if (found === null || found === undefined) return Effect.succeedNone;
            // `false` and an empty list of rows would count as a member.
            return Predicate.isObject(found) && !(found instanceof Response)
              ? Effect.asSome(recordOf(asked, rest, found, told))
              : notExpected(asked, found, "an object or null");
          },
        );
};

/**
 * Takes the fields of the record alone, since a row of the program's database has others, which callers must not see. A
 * field of the wrong kind is unavailable.
 */
const recordOf = <A extends object>(
  { name, fields }: AskedRecord,
  rest: A,
  found: object,
  told: Set<string>,
) => {
  const untold: Array<string> = [];
  const record = Record.map(fields, (schema, field) => {
    const usual: unknown = Reflect.get(rest, field);
    const given: unknown = field === "id" ? usual : (Reflect.get(found, field) ?? usual);
    return Option.getOrElse(
      Schema.decodeUnknownOption(schema)(times.has(field) ? timeOf(given) : given),
      () => {
        const place = `${name}.${field}`;
        if (!told.has(place)) untold.push(field);
        told.add(place);
        return usual;
      },
    );
  });
  const warned =
    untold.length === 0
      ? Effect.void
      : Effect.logWarning(`${name} returned fields of the wrong kind: ${untold.join(", ")}`);
  return Effect.as(warned, record as A);
};

const times: ReadonlySet<string> = new Set(["created", "joined"]);

/** Database drivers return times as dates. Text that is no time, such as "yesterday", is of the wrong kind. */
const timeOf = (value: unknown): unknown => {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  return Predicate.isString(value) && Option.isNone(parseTimestamp(value)) ? undefined : value;
};

/** A sign-in that always fails: it redirects the browser back to a page that says that the platform is unavailable. */
export const noSignIn = <Id>(
  operation: string,
  expected = 'the option "platforms"',
): IdentityProvider<Id> => {
  const cause = new Error(`Nobody can sign in: expected ${expected}`);
  return {
    begin: ({ redirectUri, state }) =>
      Effect.succeed({ url: `${redirectUri}?${new URLSearchParams({ state })}` }),
    finish: () => Effect.fail(new PlatformUnavailable({ operation, cause })),
  };
};

const nothingOf = <Fields extends object>(fields: Fields) =>
  Record.map(fields as Readonly<Record<string, unknown>>, () => null) as {
    readonly [Name in keyof Fields]: null;
  };

const noProfile = nothingOf(GameProfile.fields);
const noUser = nothingOf(ChatUser.fields);
const noMember: GuildMember = { nickname: null, joined: null, roles: [] };
