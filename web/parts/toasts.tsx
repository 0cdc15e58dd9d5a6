import { signal } from '@preact/signals';

interface Toast {
  readonly key: number;
  readonly text: string;
  readonly action?: { readonly label: string; readonly run: () => void };
}

const toasts = signal<readonly Toast[]>([]);
let count = 0;

/** Says something once, also to screen readers; with an action for ten seconds, otherwise for five. */
export function announce(text: string, action?: Toast['action']): void {
  count += 1;
  const toast: Toast = { key: count, text, ...(action === undefined ? {} : { action }) };
  toasts.value = [...toasts.value.slice(-3), toast];
  setTimeout(() => remove(toast.key), action === undefined ? 5000 : 10_000);
}

function remove(key: number): void {
  toasts.value = toasts.value.filter((each) => each.key !== key);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ key, text, action }) => (
        <div class="toast" key={key}>
          <span>{text}</span>
          {action !== undefined && (
            <button
              type="button"
              onClick={() => {
                remove(key);
                action.run();
              }}
            >
              {action.label}
            </button>
          )}
        </div>
      ))}
    </div>
  );
}
