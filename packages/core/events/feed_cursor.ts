import { Effect, Option } from "effect";
import { type ChatId, isChatId, type Pid } from "../ids.ts";
import { Secrets } from "../secrets/secrets.ts";

/** Where to continue a list of links, and the feed position from which to read the changes since the list began. */
export interface ListPlace {
  /** The last listed chat user. */
  readonly chatId: ChatId;
  readonly position: number;
}

/**
 * Signs and opens cursors. A cursor is a place in the feed of a scope, or in the list of the scope's links. Opening an
 * invalid cursor or a cursor of another scope returns `None`.
 */
export const makeCursors = Effect.gen(function* () {
  const secrets = yield* Secrets;
  /** The most recent cursor is cached, because all clients that wait for the same event get the same cursor. */
  let last = { of: "", cursor: "" };
  const sealed = (pid: Pid, place: string) => {
    const of = `${pid}\n${place}`;
    if (last.of === of) return Effect.succeed(last.cursor);
    return Effect.map(secrets.cursorTag(of), (tag) => {
      last = { of, cursor: `${place}.${tag}` };
      return last.cursor;
    });
  };

  const open = Effect.fnUntraced(function* (pid: Pid, cursor: string) {
    const place = cursor.slice(0, Math.max(0, cursor.lastIndexOf(".")));
    return cursor === (yield* sealed(pid, place)) ? Option.some(place) : Option.none();
  });

  return {
    event: (pid: Pid, position: number) => sealed(pid, `e${position.toString(36)}`),

    readEvent: (pid: Pid, cursor: string) =>
      Effect.map(
        open(pid, cursor),
        Option.flatMap((place) =>
          place.startsWith("e") ? Option.some(Number.parseInt(place.slice(1), 36)) : Option.none(),
        ),
      ),

    list: (pid: Pid, { chatId, position }: ListPlace) => sealed(pid, `l${position.toString(36)}.${chatId}`),

    readList: (pid: Pid, cursor: string) =>
      Effect.map(
        open(pid, cursor),
        Option.flatMap((place): Option.Option<ListPlace> => {
          const [position = "", chatId] = place.slice(1).split(".");
          return place.startsWith("l") && isChatId(chatId)
            ? Option.some({ chatId, position: Number.parseInt(position, 36) })
            : Option.none();
        }),
      ),
  };
});
