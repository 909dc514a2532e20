/** Shows the markup of a message: bold text, links, code, mentions and times. */
import { type Html, html } from "@accountlink/pages/html";

export interface Names {
  readonly user: (chatId: string) => string;
  readonly role: (roleId: string) => string;
}

const marks =
  /\\(?<escaped>[^\w\s])|\*\*(?<bold>(?:\\.|[^*])+)\*\*|`(?<code>[^`]+)`|<@&(?<role>\d+)>|<@(?<user>\d+)>|<t:(?<time>\d+):D>|\[(?<label>(?:\\.|[^\]])+)\]\(<(?<url>[^>]+)>\)|(?<line>\n)/gu;

export const messageHtml = (text: string, names: Names): ReadonlyArray<Html> => {
  const parts: Array<Html> = [];
  let end = 0;
  for (const found of text.matchAll(marks)) {
    parts.push(html`${text.slice(end, found.index)}`, markHtml(found.groups ?? {}, names));
    end = found.index + found[0].length;
  }
  return [...parts, html`${text.slice(end)}`];
};

const markHtml = (
  { escaped, bold, code, role, user, time, label, url }: Readonly<Record<string, string | undefined>>,
  names: Names,
): Html => {
  if (escaped !== undefined) return html`${escaped}`;
  if (bold !== undefined) return html`<strong>${messageHtml(bold, names)}</strong>`;
  if (code !== undefined) return html`<code>${code}</code>`;
  if (role !== undefined) return html`<mark>@${names.role(role)}</mark>`;
  if (user !== undefined) return html`<mark>@${names.user(user)}</mark>`;
  if (time !== undefined) return html`${new Date(Number(time) * 1_000).toISOString().slice(0, 10)}`;
  if (url !== undefined) return html`<a href="${url}">${messageHtml(label ?? url, names)}</a>`;
  return html`<br>`;
};
