import { Context, type Option } from "effect";
import type { WriteOrigin } from "../audit/audit.ts";
import type { StoreEffect } from "../errors.ts";
import type { GuildId, Pid } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import type { Community, CommunityPlace, CommunitySettings, PostedPanel } from "./community.ts";

export interface UpdateCommunity extends WriteOrigin, CommunityPlace {
  readonly update: Partial<CommunitySettings>;
  /** The end of the scope's event feed at the time of the write. A log that is turned on tells only later events. */
  readonly position: number;
  readonly at: Millis;
}

export interface SavePanel extends WriteOrigin, CommunityPlace {
  readonly panel: PostedPanel;
  readonly at: Millis;
}

/**
 * Stores communities. `RolePlanStore` turns their linking on and pauses it, in the transaction of the plan's change;
 * deleting a plan also forgets the settings of its community. Every operation is atomic. Deleting the data of a scope
 * keeps its communities. Erasing a user takes the user out of pauses. A change of an unknown scope is a defect.
 */
export class CommunityStore extends Context.Service<
  CommunityStore,
  {
    readonly find: (place: CommunityPlace) => StoreEffect<Option.Option<Community>>;

    /**
     * Returns the home of a guild: the community whose linking is on, or else the one whose linking was turned on last.
     * Communities of suspended accounts do not count.
     */
    readonly findHome: (guildId: GuildId) => StoreEffect<Option.Option<Community>>;

    /** Returns the communities of a scope, sorted by guild. */
    readonly list: (pid: Pid) => StoreEffect<ReadonlyArray<Community>>;

    /**
     * Returns the homes of guilds that remind their members, sorted by scope and guild. Linking goes on there, also while
     * the rules are paused.
     */
    readonly reminding: () => StoreEffect<ReadonlyArray<Community>>;

    /** Changes settings, with a `roles.updated` entry if any differs. The log of the community follows. */
    readonly update: (write: UpdateCommunity) => StoreEffect<void>;

    /**
     * Stores a panel in place of the one that was posted in its channel before, with a `panel.posted` entry if the
     * message or its text is new. A panel that answered a command, whose message is unknown, only gets the entry.
     */
    readonly savePanel: (write: SavePanel) => StoreEffect<void>;
  }
>()("@accountlink/core/CommunityStore") {}
