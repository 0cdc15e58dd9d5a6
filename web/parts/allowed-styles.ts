/*
 * For a library that makes style elements and style attributes, which the policy of the page refuses: while it is used, the document
 * makes elements whose text becomes a constructed sheet instead, and sets the attributes through the object model.
 */

let users = 0;

/** Begins; returns what ends it. */
export function allowStyles(): () => void {
  users += 1;
  document.createElement = (name: string): HTMLElement => {
    if (name === 'style') return sheetElement();
    const element = newElement(name);
    if (name === 'span')
      element.setAttribute = (attribute, value) => {
        if (attribute === 'style') element.style.cssText = value;
        else Element.prototype.setAttribute.call(element, attribute, value);
      };
    return element;
  };
  return () => {
    users -= 1;
    if (users === 0) Reflect.deleteProperty(document, 'createElement');
  };
}

function newElement(name: string): HTMLElement {
  return Document.prototype.createElement.call(document, name);
}

/** Stands for a style element: its text is a sheet of the document until it is removed. */
function sheetElement(): HTMLElement {
  const element = newElement('span');
  element.hidden = true;
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  Object.defineProperty(element, 'textContent', { set: (text: string) => sheet.replaceSync(text) });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}
