/** The canonical destination types (notification interface, destination-type). */
export const destinationKinds = ['generic', 'email', 'chat-a', 'chat-b'] as const;
/** One of `destinationKinds`. */
export type DestinationKind = (typeof destinationKinds)[number];

/** All accepted destination types: the canonical ones, and forms that existing clients send. */
export type DestinationSpelling = DestinationKind | 'slack' | 'microsoft-teams';

const aliases: Readonly<Record<string, DestinationKind>> = {
  slack: 'chat-a',
  'microsoft-teams': 'chat-b',
} satisfies Record<Exclude<DestinationSpelling, DestinationKind>, DestinationKind>;

/** The kind of a destination type in any form; undefined for an unknown one. */
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

/** A stored token or destination URL: encrypted by the host's cipher, or in the clear without one. */
export type StoredSecret = { readonly sealed: string } | { readonly plain: string };
