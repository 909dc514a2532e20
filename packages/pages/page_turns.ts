/** The turns of requests to pages before their account is known, and of files that are downloaded from pages. */
import { type Asker, type RequestPlaces, TurnVisitor } from "@accountlink/core/turns";
import { HttpResponse, isStream, type RequestContext } from "@accountlink/http/for_pages";
import { Effect } from "effect";

/** Runs an answer in the turns of the client address, for example at the connections of Postgres, until an account is charged. */
export const asVisitor = <A, E, R>(
  { address }: Pick<RequestContext, "address">,
  answer: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> => Effect.provideService(answer, TurnVisitor, address?.countedAs ?? null);

/** Answers a read of a page in its place, and a file that it answers with in turns with all other files. */
export const readInPlace = <A, E, R>(
  places: RequestPlaces["Service"],
  asker: Asker,
  read: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> =>
  Effect.map(places.read(asker, read), (answered) => {
    if (!(answered instanceof HttpResponse) || !isStream(answered.body)) return answered;
    const { status, headers, body } = answered;
    return new HttpResponse(status, headers, { ...body, chunks: places.file(asker, body.chunks) }) as A;
  });
