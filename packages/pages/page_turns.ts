/** The turns of requests to pages before their account is known, and of files that are downloaded from pages. */
import { type Asker, type RequestPlaces, TurnAccount, TurnVisitor } from "@accountlink/core/turns";
import { HttpResponse, type RequestContext } from "@accountlink/http/for_pages";
import { Effect, Stream } from "effect";

/** Runs an answer in the turns of the client address, for example at the connections of Postgres, until an account is charged. */
export const asVisitor = <A, E, R>(
  { address }: Pick<RequestContext, "address">,
  answer: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> => Effect.provideService(answer, TurnVisitor, address?.countedAs ?? null);

/**
 * Answers a read of a page in its place. A file that it answers with counts as a read until its last byte, and its pages
 * are read in turns with those of all other files.
 */
export const readInPlace = <A, E, R>(
  places: RequestPlaces["Service"],
  asker: Asker,
  read: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> =>
  Effect.map(places.read(asker, read), (answered) =>
    answered instanceof HttpResponse ? (inPlace(places, asker, answered) as A) : answered,
  );

const inPlace = (places: RequestPlaces["Service"], asker: Asker, answered: HttpResponse): HttpResponse => {
  const { status, headers, body } = answered;
  if (body === null || typeof body === "string" || body instanceof Uint8Array) return answered;
  const inTurns = Effect.map(Stream.toPull(body.chunks), (pull) =>
    Stream.fromPull(Effect.succeed(places.page(asker, pull))),
  );
  const chunks = Stream.unwrap(Effect.andThen(places.takeRead(asker), inTurns));
  return new HttpResponse(status, headers, {
    ...body,
    chunks: Stream.provideService(chunks, TurnAccount, asker.account),
  });
};
