/** Where a page of a list of links begins. */
import { ChatId } from "@accountlink/core";
import { isChatId } from "@accountlink/core/ids";
import type { NewestPosition } from "@accountlink/core/links";
import { dayMs, type Millis } from "@accountlink/core/timestamp";
import { dayMsOf } from "../look/time.ts";
import type { Fields } from "../owner_pages.ts";

/** Returns where the page of a list begins: at a cursor, at the end of the list, after a day, or at the newest link. */
export const startOf = (
  fields: Fields,
): { readonly place: NewestPosition | null; readonly direction: "newer" | "older" } => {
  const direction = fields("direction");
  if (direction === "oldest") return { place: beyond(-1), direction: "newer" };
  const day = dayMsOf(fields("day"));
  const place = placeOf(fields("cursor")) ?? (day === null ? null : beyond(day + dayMs));
  return { place, direction: direction === "newer" ? "newer" : "older" };
};

/** A position between the links that were verified before and after a time. */
const beyond = (lastVerifiedAt: Millis): NewestPosition => ({ lastVerifiedAt, chatId: ChatId.make("00000") });

const placeOf = (text: string): NewestPosition | null => {
  const [time, chatId] = text.split("-");
  const lastVerifiedAt = Number(time);
  return time && isChatId(chatId) && Number.isSafeInteger(lastVerifiedAt) ? { lastVerifiedAt, chatId } : null;
};
