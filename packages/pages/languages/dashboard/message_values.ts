// biome-ignore-all format: `vitest -u` writes this from `en.json`, see `dashboard_messages_test.ts`.
/** The names of the values of each message that has some. */
export interface ValueNames {
  readonly "frame.account_of": "owner";
  readonly "refused.body": "reason";
  readonly "refused.limit": "reason" | "minutes";
  readonly "refused.platform_down": "platform";
  readonly "refused.no_answer": "platform";
  readonly "field.problem": "reason";
  readonly "reason.characters": "count";
  readonly "list.own": "community";
  readonly "list.community": "id";
  readonly "list.links": "count" | "links";
  readonly "list.counted": "ago";
  readonly "undo.link": "a" | "unseen" | "name" | "time";
}

/** The type of each value. */
export interface MessageValues<Text, Tag> {
  readonly a: Tag;
  readonly ago: Text;
  readonly community: Text;
  readonly count: number;
  readonly id: Text;
  readonly links: Text;
  readonly minutes: number;
  readonly name: Text;
  readonly owner: Text;
  readonly platform: Text;
  readonly reason: Text;
  readonly time: Text;
  readonly unseen: Tag;
}
