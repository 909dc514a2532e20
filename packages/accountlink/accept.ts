/** What methods accept: the parameters that several services have, and schemas for the others. */
import { ChatId, GameId, GuildId, KeyId } from "@accountlink/core";
import { idRules, isChatId } from "@accountlink/core/ids";
import { isStorable } from "@accountlink/core/storable_text";
import { Duration, Option, Predicate, Record, Schema, SchemaGetter } from "effect";
import type { Parameter } from "./method.ts";

export const that = <A>(is: (value: unknown) => value is A, expected: string) =>
  Schema.declare(is, { expected });

export const textThat = (is: (text: string) => boolean, expected: string) =>
  that((value): value is string => typeof value === "string" && is(value), expected);

export const oneOf = <const Value extends string>(values: ReadonlyArray<Value>) =>
  that((value): value is Value => values.some((known) => known === value), `one of ${values.join(", ")}`);

export const whole = (from: number, to: number) =>
  that(
    (value): value is number => Number.isSafeInteger(value) && Number(value) >= from && Number(value) <= to,
    to === Number.MAX_SAFE_INTEGER
      ? `a whole number, ${from} or more`
      : `a whole number from ${from} to ${to}`,
  );

export const listOf = <S extends Schema.Top>(item: S) => Schema.Array(item).annotate({ expected: "a list" });

/** An object. Fields that are undefined are left out, since they would replace defaults. */
export const fields = <const Fields extends Schema.Struct.Fields>(known: Fields) =>
  Schema.Struct(known)
    .annotate({ expected: "an object" })
    .pipe(
      Schema.decode({
        decode: SchemaGetter.transform(
          (given) => Record.filter({ ...given }, Predicate.isNotUndefined) as typeof given,
        ),
        encode: SchemaGetter.passthrough(),
      }),
    );

/** A field that may be left out. Plain JavaScript may also set it to undefined. */
export const maybe = <S extends Schema.Top>(schema: S) => {
  const expected = schema.ast.annotations?.["expected"];
  // Without a message, the one for a value of another type would show the value, such as an address.
  const message = `expected ${Predicate.isString(expected) ? expected : "another value"}`;
  const optional = Schema.optionalKey(Schema.UndefinedOr(schema).annotate({ message }));
  return optional as unknown as Schema.optionalKey<S>;
};

/** An object of options, the last argument of a method, which may be left out. */
export const options = <const Fields extends Schema.Struct.Fields>(known: Fields) =>
  ["options", fields(known)] as unknown as Parameter<Schema.Struct<Fields>["Type"]>;

/** An object of changes, which may be a whole record with its other fields. */
export const update = <const Fields extends Schema.Struct.Fields>(known: Fields) =>
  ["update", fields(known), "ignored"] as const;

const idThat = <A extends string>(schema: Schema.Schema<A>, expected: string) =>
  Schema.declare(Schema.is(schema), { expected, isId: true });

export const anyChatId = idThat(ChatId, idRules.chatId);
export const anyGameId = idThat(GameId, idRules.gameId);
export const anyGuildId = idThat(GuildId, idRules.guildId);
export const anyKeyId = idThat(KeyId, "12 letters or digits");
export const text = textThat(isStorable, "well-formed text without NUL");
export const flag = that(Predicate.isBoolean, "true or false");
export const duration = that(
  (given): given is Duration.Input => Option.isSome(Duration.fromInput(given as Duration.Input)),
  'a duration such as 100 or "10 seconds"',
);
export const count = whole(0, Number.MAX_SAFE_INTEGER);

export const chatId: Parameter<ChatId> = ["chatId", anyChatId];
export const gameId: Parameter<GameId> = ["gameId", anyGameId];

export const inGuild = { guildId: maybe(anyGuildId) };
export const byActor = {
  actor: maybe(
    that(
      (given): given is string | { readonly chatId: ChatId } =>
        Predicate.isString(given) || (Predicate.hasProperty(given, "chatId") && isChatId(given.chatId)),
      `text, or an object with a chatId of ${idRules.chatId}`,
    ),
  ),
};

/** The parameters of `CallOptions`, `LookupOptions`, `ActorOptions` and `WriteOptions`. */
export const calling = options(inGuild);
export const looking = options({ ...inGuild, resolved: maybe(flag) });
export const acting = options(byActor);
export const writing = options({ ...inGuild, ...byActor });
