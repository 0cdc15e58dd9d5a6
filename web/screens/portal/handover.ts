/*
 * The messages between the page of a customer and the page of the host that frames it. The host posts the token of one workspace and may post
 * colours; the page asks for them.
 */

/** Sent when the page can receive a token, and when the token ends soon or was refused. They carry nothing secret. */
export const ready = { type: 'signalbox-ready' } as const;
export const wanted = { type: 'signalbox-token-wanted' } as const;

/** Ten colours that a host may choose, with the custom property of each. */
export const themeColours = {
  surface: '--surface',
  raised: '--raised',
  line: '--line',
  text: '--text',
  secondary: '--secondary',
  accent: '--accent',
  onAccent: '--on-accent',
  edge: '--edge',
  selected: '--selected',
  failed: '--failed',
} as const;

export type Theme = Readonly<Partial<Record<keyof typeof themeColours, string>>>;

interface Handover {
  readonly token: string;
  readonly theme: Theme;
}

/** Whether a message comes from a page that may frame this one. `self` is the origin of the page. */
export function isAllowedOrigin(origin: string, allowed: readonly string[], own: string): boolean {
  return origin !== 'null' && allowed.some((each) => (each === 'self' ? own : each) === origin);
}

/** The token and the colours of a message; undefined for any other message. Colours of another form are left out. */
export function handoverOf(message: unknown): Handover | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  if (!('type' in message) || message.type !== 'signalbox-token') return undefined;
  if (!('token' in message) || typeof message.token !== 'string') return undefined;
  // A header takes no other characters.
  if (!/^[\x21-\x7e]{1,4096}$/.test(message.token)) return undefined;
  return { token: message.token, theme: themeOf('theme' in message ? message.theme : undefined) };
}

function themeOf(given: unknown): Theme {
  if (typeof given !== 'object' || given === null) return {};
  const members: ReadonlyMap<string, unknown> = new Map(Object.entries(given));
  const colours = Object.keys(themeColours).flatMap((name) => {
    const value = members.get(name);
    return typeof value === 'string' && /^#[\da-f]{6}$/i.test(value) ? [[name, value] as const] : [];
  });
  return Object.fromEntries(colours);
}

/** Whether the surface of a theme is dark, for the parts that the browser paints; undefined when it is not chosen. */
export function isDark({ surface }: Theme): boolean | undefined {
  if (surface === undefined) return undefined;
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(surface.slice(at, at + 2), 16));
  return 0.299 * red + 0.587 * green + 0.114 * blue < 128;
}

/** How long before a token ends another one is asked for, in milliseconds from now: a minute before, or half of a shorter life. */
export function renewalDelay(endsAt: number, now: number): number {
  const left = Math.max(0, endsAt - now);
  return Math.max(1000, left - Math.min(60_000, left / 2));
}
