/** Flags of commands, made from the fields of the dashboard's operations: their names, texts, choices and bounds. */
import { type Parameter, parameterCodec } from "@accountlink/http-api";
import { Option, Schema, SchemaAST } from "effect";
import { Flag } from "effect/cli";

/** Makes the flag of a field with one value, such as `--description`. */
export const fieldFlag = <A>(name: string, field: Parameter<A>): Flag.Flag<NonNullable<A>> => {
  const decode = Schema.decodeUnknownOption(parameterCodec(field, "body"));
  return flagOf(name, field, SchemaAST.toType(field.schema.ast), (text) =>
    Option.filter(decode(text), (value) => value !== null && value !== undefined),
  );
};

/** Makes the flag of a field that is a list. It takes one entry, has its name, and can be repeated. */
export const entryFlag = <Entry>(
  name: string,
  field: Parameter<ReadonlyArray<Entry> | undefined>,
): Flag.Flag<ReadonlyArray<Entry>> => {
  const decode = Schema.decodeUnknownOption(parameterCodec(field, "body"));
  const { ast } = field.schema;
  const entry = SchemaAST.isArrays(ast) ? ast.rest[0] : undefined;
  const expected = entry?.checks?.[0].annotations?.expected;
  const reason = expected === undefined ? field.reason : `expected ${expected}`;
  const flag = flagOf(name, { ...field, reason }, entry, (text) =>
    Option.flatMap(decode([text]), (list) => Option.fromUndefinedOr(list?.[0])),
  );
  return Flag.atLeast(flag, 0);
};

const flagOf = <A>(
  name: string,
  { description, reason }: Parameter<unknown>,
  ast: SchemaAST.AST | undefined,
  decode: (text: string) => Option.Option<A>,
) => {
  const choices = ast === undefined ? [] : literalsOf(ast);
  const flag = choices.length > 0 ? Flag.Literals(name, choices) : Flag.String(name);
  return flag.pipe(
    Flag.withDescription(description),
    // A flag cannot be null: it is left out.
    Flag.filterMap(decode, () => reason.replace("expected null or ", "expected ")),
  );
};

/** The texts of a field that takes one of them; empty for any other field. */
const literalsOf = (ast: SchemaAST.AST): ReadonlyArray<string> => {
  const members = SchemaAST.isUnion(ast) ? ast.types : [ast];
  const texts = members.flatMap((member) => (SchemaAST.isLiteral(member) ? [String(member.literal)] : []));
  return texts.length === members.length ? texts : [];
};
