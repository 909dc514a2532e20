import { JsonSchema, Schema } from "effect";
import type { Header, Parameter, Reference, Response } from "./document.ts";
import { simplify } from "./simplify.ts";

interface Kinds {
  readonly schemas: JsonSchema.JsonSchema;
  readonly parameters: Parameter;
  readonly headers: Header;
  readonly responses: Response;
  readonly examples: { readonly value: unknown };
}

type Kind = keyof Kinds;

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** Collects the components of an OpenAPI document, such as schemas and parameters. */
export class Components {
  readonly all: { readonly [K in Kind]: Record<string, Kinds[K]> } = {
    schemas: {},
    parameters: {},
    headers: {},
    responses: {},
    examples: {},
  };

  /** Adds a component, and returns a reference to it. Throws if a different component already has the name. */
  share<K extends Kind>(kind: K, name: string, value: Kinds[K]): Reference {
    const reference = this.reference(kind, name, value);
    if (reference === null) throw new Error(`Cannot share two different ${kind} as "${name}"`);
    return reference;
  }

  /**
   * Adds a parameter, and returns a reference to it; null if a different parameter already has the name. The name is
   * short, because code generators use it as the name of a type.
   */
  parameter(parameter: Parameter): Reference | null {
    return this.reference("parameters", `${parameter.name.replaceAll("-", "")}Parameter`, parameter);
  }

  private reference<K extends Kind>(kind: K, name: string, value: Kinds[K]): Reference | null {
    const components: Record<string, Kinds[K]> = this.all[kind];
    const known = (components[name] ??= value);
    return isSame(known, value) ? { $ref: `#/components/${kind}/${name}` } : null;
  }

  /** The JSON Schema of a schema. Schemas with an identifier become shared components. */
  schema(schema: Schema.Top): JsonSchema.JsonSchema {
    const { schema: root, definitions } = Schema.toJsonSchemaDocument(schema);
    const translated = JsonSchema.toMultiDocumentOpenApi3_1({
      dialect: "draft-2020-12",
      schemas: [root],
      definitions,
    });
    for (const [name, definition] of Object.entries(translated.definitions)) {
      this.share("schemas", name, simplify(definition));
    }
    return simplify(translated.schemas[0]);
  }
}
