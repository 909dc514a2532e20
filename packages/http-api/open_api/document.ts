import type { JsonSchema } from "effect";
import type { Reason } from "../error_details.ts";
import type { Method } from "../route.ts";

export interface Reference {
  readonly $ref: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly description: string;
  readonly required: boolean;
  readonly schema: JsonSchema.JsonSchema;
  readonly example?: unknown;
}

export interface MediaType {
  readonly schema: JsonSchema.JsonSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, Reference | { readonly value: unknown }>>;
}

export type Content = Readonly<Record<string, MediaType>>;

export interface Header {
  readonly description: string;
  readonly schema: JsonSchema.JsonSchema;
  readonly example?: unknown;
}

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Reference>>;
  readonly content?: Content;
}

type Security = ReadonlyArray<Readonly<Record<string, ReadonlyArray<never>>>>;

export interface Operation {
  readonly operationId: string;
  readonly tags: ReadonlyArray<string>;
  readonly summary: string;
  readonly description: string;
  readonly parameters: ReadonlyArray<Parameter | Reference>;
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly security?: Security;
  readonly responses: Readonly<Record<string, Response | Reference>>;
  /** v1 only: the reasons and limits of the operation, which name its examples of refusals and schemas `Reason_…`. */
  readonly "x-reasons"?: ReadonlyArray<Reason>;
}

export interface Document {
  readonly openapi: "3.1.0";
  readonly info: Readonly<Record<string, unknown>>;
  readonly servers: ReadonlyArray<{ readonly url: string; readonly description: string }>;
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description: string }>;
  readonly security: Security;
  readonly paths: Readonly<Record<string, Partial<Record<Lowercase<Method>, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}
