/** Which roles a member may let a role plan give: only what the chat platform would let the member give. */

/** The permissions that only a member who has them may pass on. @internal */
export const powerfulPermissions = [
  "administrator",
  "manage_server",
  "manage_roles",
  "manage_channels",
  "manage_webhooks",
  "kick",
  "ban",
  "moderate_members",
  "mention_everyone",
] as const;

export type PowerfulPermission = (typeof powerfulPermissions)[number];

export interface RankedRole {
  readonly id: string;
  readonly permissions: ReadonlyArray<PowerfulPermission>;
}

/**
 * Returns the IDs of the roles that a member may name in a rule: the roles below the member's highest role, without
 * permissions that the member lacks. The owner of a guild may name all, for which platforms do not ask.
 *
 * @param roles the roles of the guild, highest first
 * @param held the IDs of the member's roles
 * @param rights permissions that the member has besides
 * @internal
 */
export const nameableRoles = (
  roles: ReadonlyArray<RankedRole>,
  held: ReadonlySet<string>,
  rights: ReadonlyArray<PowerfulPermission> = [],
): ReadonlySet<string> => {
  const highest = roles.findIndex(({ id }) => held.has(id));
  const own = new Set([
    ...rights,
    ...roles.flatMap(({ id, permissions }) => (held.has(id) ? permissions : [])),
  ]);
  const isOwn = (permission: PowerfulPermission) => own.has("administrator") || own.has(permission);
  const below = highest === -1 ? [] : roles.slice(highest + 1);
  return new Set(below.filter(({ permissions }) => permissions.every(isOwn)).map(({ id }) => id));
};
