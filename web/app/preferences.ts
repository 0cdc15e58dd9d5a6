import { effect, signal } from '@preact/signals';
import { mountUrl } from './settings.js';

/** What a person has chosen for this browser. Nothing of it is secret. */
interface Preferences {
  /** IANA name; empty for the browser's own zone. */
  readonly zone: string;
  readonly density: 'comfortable' | 'compact';
  readonly singleKeys: boolean;
  readonly wrapsLogs: boolean;
  /** Names and addresses of saved lists. */
  readonly views: readonly { readonly name: string; readonly query: string }[];
  /** Lines of the first screen that are hidden, with the time until then. */
  readonly snoozed: Readonly<Record<string, number>>;
}

const initial: Preferences = {
  zone: '',
  density: 'comfortable',
  singleKeys: true,
  wrapsLogs: true,
  views: [],
  snoozed: {},
};
const name = `signalbox-preferences:${mountUrl.pathname}`;

function stored(): Preferences {
  try {
    return { ...initial, ...(JSON.parse(localStorage.getItem(name) ?? '{}') as Partial<Preferences>) };
  } catch {
    return initial;
  }
}

export const preferences = signal<Preferences>(stored());

export function prefer(changes: Partial<Preferences>): void {
  preferences.value = { ...preferences.value, ...changes };
  try {
    localStorage.setItem(name, JSON.stringify(preferences.value));
  } catch {
    // A browser may have no room or forbid it: the choice then lasts as long as the tab.
  }
}

effect(() => {
  document.documentElement.dataset['density'] = preferences.value.density;
});
