/** Compares the types of the client's contract with the server's schemas. */
import type { PublicError } from "@accountlink/core/errors";
import {
  type AltsV2,
  type EventsV2,
  type KeysV2,
  type LookupsV2,
  type MembersV2,
  type Parameters,
  type ParameterValues,
  type Route,
  type SessionsV2,
  type WritesV2,
} from "@accountlink/http-api";
import type { Schema } from "effect";
import { expectTypeOf, it } from "vitest";
import type { RefusalDetails, RouteId, Routes, VerificationSession } from "./contract.ts";
import type { ErrorDetails } from "./errors.ts";
import type { Data } from "./transport.ts";

type Values = typeof LookupsV2 &
  typeof AltsV2 &
  typeof WritesV2 &
  typeof MembersV2 &
  typeof KeysV2 &
  typeof SessionsV2 &
  typeof EventsV2;

type DataOf<R> =
  R extends Route<Parameters, infer S extends Schema.Top>
    ? Extract<S["Encoded"], { readonly data: unknown }>["data"]
    : never;
type ParametersOf<R> = R extends Route<infer P> ? ParameterValues<P> : never;

type DetailsOf<Code> = Extract<PublicError, { readonly code: Code }>["details"];

it("the client's types match the server's schemas", () => {
  expectTypeOf<{ [Id in RouteId]: Data<Id> }>().toEqualTypeOf<{ [Id in RouteId]: DataOf<Values[Id]> }>();
  expectTypeOf<{ [Id in RouteId]: keyof Routes[Id]["parameters"] }>().toEqualTypeOf<{
    [Id in RouteId]: keyof ParametersOf<Values[Id]>;
  }>();
  expectTypeOf<{ [Id in RouteId]: ParametersOf<Values[Id]> }>().toExtend<{
    [Id in RouteId]: Routes[Id]["parameters"];
  }>();
});

it("the state of a session decides which fields are null", () => {
  type InState<State> = Extract<VerificationSession, { readonly state: State }>;
  expectTypeOf<InState<"completed">>().toExtend<{ gameId: string; chatId: string; completedAt: string }>();
  expectTypeOf<InState<"failed">>().toExtend<{ gameId: string | null; error: "link_removed" }>();
  expectTypeOf<Exclude<VerificationSession, InState<"completed"> | InState<"failed">>>().toExtend<{
    proof: null;
    completedAt: null;
    error: null;
  }>();
});

it("the client's types cover the details of every service error", () => {
  // Only dashboard routes use these reasons of `FORBIDDEN`, so the types of v2 omit them.
  type Dashboard = "account_suspended" | "role" | "csrf";
  type Rest = Exclude<keyof RefusalDetails, "FORBIDDEN" | "CONFLICT">;
  expectTypeOf<{ [Code in Rest]: DetailsOf<Code> }>().toExtend<Pick<ErrorDetails, Rest>>();
  expectTypeOf<ErrorDetails["FORBIDDEN"]["reason"]>().toEqualTypeOf<
    Exclude<DetailsOf<"FORBIDDEN">["reason"], Dashboard>
  >();
});
