import { askPlatform, type ResilientClient } from "@accountlink/platforms/http";
import { Option, Schema } from "effect";
import type { HttpClientRequest } from "effect/http";
import { Refusal } from "./wire.ts";

const refusalIn = Schema.decodeUnknownOption(Refusal);

/** Returns the body of a response of the dev platform, or the code of its refusal. */
export const askDev = <A = unknown>(
  client: ResilientClient,
  operation: string,
  request: HttpClientRequest.HttpClientRequest,
  found: Schema.ConstraintDecoder<A> = Schema.Any,
) =>
  askPlatform(client, {
    operation,
    request,
    found,
    meaning: (_, body) => Option.getOrUndefined(refusalIn(body))?.code,
  });
