export { prometheusObserver } from './prometheus-observer.js';
