/** Returns the game profile of a user of the demo, for examples. @internal */
export const exampleProfile = (id: string, name: string) => ({
  username: `${name.toLowerCase()}_plays`,
  displayName: name,
  id,
  description: null,
  created: "2020-01-01T00:00:00.000Z",
  isBanned: false,
  hasVerifiedBadge: false,
  avatar: null,
  badges: [],
  groups: [],
});
