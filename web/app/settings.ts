/** What the server says of itself in the document. */
interface PageSettings {
  readonly version: string;
  /** Path of the notification interface below the mount; empty for the root. */
  readonly notificationsPath: string;
  /** `token`: by a cookie session; `open`: everybody may do everything; `host`: the service that mounts the page has signed people in. */
  readonly signIn: 'token' | 'open' | 'host';
  readonly title?: string;
  readonly links?: readonly { readonly label: string; readonly href: string }[];
  /** Whose pages may show this one in a frame: origins, or `self`. */
  readonly frameAncestors?: readonly string[];
  /** The server's clock is virtual, and moved by people. */
  readonly hasClock?: true;
}

/** The address of the page, which ends with a slash: taken once, because addresses of the history do not change it. */
export const pageUrl = new URL('.', document.baseURI);
/** Where the interfaces are mounted: one level above the page. */
export const mountUrl = new URL('..', pageUrl);

export const settings: PageSettings = {
  version: '',
  notificationsPath: '',
  signIn: 'token',
  ...(JSON.parse(document.getElementById('settings')?.textContent ?? '{}') as Partial<PageSettings>),
};

export const pageTitle = settings.title ?? 'Signalbox';
