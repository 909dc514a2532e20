/** Lists of a platform. An entry that cannot be read hides no other entry. */
import { monotonicMillis } from "@accountlink/core/monotonic_millis";
import { Context, Effect, Exit, Option, Schema, SchemaGetter, SchemaIssue } from "effect";

/** How long a list is not told of again, in milliseconds. */
const toldFor = 3_600_000;

/** When each list was last told of, by its name. */
export const ToldLists = Context.Reference<Map<string, number>>("@accountlink/platforms/ToldLists", {
  defaultValue: () => new Map(),
});

const Noting = Context.Reference<(field: string) => void>("@accountlink/platforms/NotingEntries", {
  defaultValue: () => () => {},
});

const formatted = SchemaIssue.makeFormatterStandardSchemaV1();

/** Returns where an issue is, such as `channels.3.name`; empty for the whole value. */
export const pathOf = (issue: SchemaIssue.Issue): string =>
  (formatted(issue).issues[0]?.path ?? [])
    .map((part) => String(typeof part === "object" ? part.key : part))
    .join(".");

/** The schema of a field that an answer may leave out, which is null then. @internal */
export const nullish = <S extends Schema.Top>(schema: S) =>
  Schema.NullOr(schema).pipe(Schema.withDecodingDefault(Effect.succeed(null)));

type Decoded<A> = Exit.Exit<A, Schema.SchemaError>;

/** A schema that decodes a value, and refuses to encode one. */
const readAs = <A, E, B>(from: Schema.Codec<A, E>, read: (value: A) => Effect.Effect<B, SchemaIssue.Issue>) =>
  from.pipe(
    Schema.decodeTo(
      Schema.declare((_): _ is B => true),
      {
        decode: SchemaGetter.transformEffect(read),
        encode: SchemaGetter.forbidden(() => "Answers are read"),
      },
    ),
  );

/** The readable entries of a list. */
interface Entries<A> {
  readonly read: ReadonlyArray<A>;
  /** How many entries cannot be read. */
  readonly leftOut: number;
}

/** @internal */
export interface EntriesOptions {
  /**
   * Whether absence from the list changes something, such as the roles of a member. Then a list whose only entry cannot
   * be read is no answer.
   */
  readonly decides?: boolean;
}

/**
 * The schema of a list that is read entry by entry. A list of several entries of which none can be read is no answer: the
 * platform has changed its form. @internal
 */
export const countedEntries = <A>(
  entry: Schema.ConstraintDecoder<A>,
  { decides = false }: EntriesOptions = {},
) => {
  const decode = Schema.decodeUnknownEffect(entry);
  const readAll = Effect.fnUntraced(function* (list: ReadonlyArray<unknown>) {
    const note = yield* Noting;
    const read: Array<A> = [];
    let first: SchemaIssue.Issue | undefined;
    for (const [index, each] of list.entries()) {
      const decoding = decode(each);
      const result = Exit.isExit(decoding) ? (decoding as Decoded<A>) : yield* Effect.exit(decoding);
      if (Exit.isSuccess(result)) {
        read.push(result.value);
        continue;
      }
      const { issue } = Option.getOrThrow(Exit.findErrorOption(result));
      const placed = new SchemaIssue.Pointer([index], issue);
      first ??= placed;
      note(pathOf(placed));
    }
    const mayBeEmpty = list.length <= (decides ? 0 : 1);
    if (first !== undefined && read.length === 0 && !mayBeEmpty) return yield* Effect.fail(first);
    return { read, leftOut: list.length - read.length } satisfies Entries<A>;
  });
  return readAs(Schema.Array(Schema.Unknown), readAll);
};

/** `countedEntries` without the number of entries that were left out. @internal */
export const entriesOf = <A>(entry: Schema.ConstraintDecoder<A>, options?: EntriesOptions) =>
  readAs(countedEntries(entry, options), ({ read }) => Effect.succeed(read));

/** The schema of a field that is null if it is left out or cannot be read. Its entry is of use without it. @internal */
export const unlessOdd = <A>(schema: Schema.ConstraintDecoder<A>) => {
  const decode = Schema.decodeUnknownEffect(schema);
  const readOne = (value: unknown) =>
    Effect.catchTag(decode(value), "SchemaError", ({ issue }) =>
      Effect.map(Noting, (note): A | null => {
        if (value !== null) note(pathOf(issue));
        return null;
      }),
    );
  return readAs(Schema.Unknown, readOne).pipe(Schema.withDecodingDefaultType(Effect.succeed(null)));
};

/**
 * Runs the decoder of a response, and tells once an hour which entry of a list was left out.
 *
 * @param name names the list, such as the route
 */
export const tellingLeftOut = <A, E, R>(
  name: string,
  decoding: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> => {
  const fields: Array<string> = [];
  return decoding.pipe(
    Effect.provideService(Noting, (field) => fields.push(field)),
    Effect.tap(() => (fields.length === 0 ? Effect.void : tell(name, fields))),
  );
};

const tell = Effect.fnUntraced(function* (name: string, fields: ReadonlyArray<string>) {
  const told = yield* ToldLists;
  const now = yield* monotonicMillis;
  const before = told.get(name);
  if (before !== undefined && now < before + toldFor) return;
  told.set(name, now);
  yield* Effect.annotateLogs(
    Effect.logWarning("Cannot read every entry of a platform's list: it is read without them"),
    { list: name, field: fields[0], entries: fields.length },
  );
});
