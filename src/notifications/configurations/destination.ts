/** The canonical destination types (notification interface, destination-type). */
export const destinationKinds = ['generic', 'email', 'chat-a', 'chat-b'] as const;
/** One of `destinationKinds`. */
export type DestinationKind = (typeof destinationKinds)[number];

/** How a destination type may be written: the canonical types, and forms that existing clients of this interface send. */
export type DestinationSpelling = DestinationKind | 'slack' | 'microsoft-teams';

const aliases: Readonly<Record<string, DestinationKind>> = {
  slack: 'chat-a',
  'microsoft-teams': 'chat-b',
} satisfies Record<Exclude<DestinationSpelling, DestinationKind>, DestinationKind>;

/** The kind that a written destination type means; undefined for an unknown one. */
export function destinationKindFromSpelling(spelling: string): DestinationKind | undefined {
  return (
    destinationKinds.find((kind) => kind === spelling) ??
    (Object.hasOwn(aliases, spelling) ? aliases[spelling] : undefined)
  );
}

/** Whether notifications of this kind are HTTP requests to a URL. */
export function usesUrl(kind: DestinationKind): boolean {
  return kind !== 'email';
}
