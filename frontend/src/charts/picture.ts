/** How does a chart become a picture? What is drawn as SVG is painted, and saved as PNG. */

const SHARPER = 2; // than the screen, for slides and papers

/** Save what is drawn in this element, over the colour that is behind it on the page. */
export async function savePng(drawn: HTMLElement, background: string, name: string): Promise<void> {
  const svg = drawn.querySelector("svg");
  if (svg === null) throw new Error("There is no drawing yet.");
  const { width, height } = svg.getBoundingClientRect();
  const image = new Image(width * SHARPER, height * SHARPER);
  const text = new XMLSerializer().serializeToString(svg);
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width;
  canvas.height = image.height;
  const paint = canvas.getContext("2d");
  if (paint === null) throw new Error("This browser does not paint.");
  paint.fillStyle = background;
  paint.fillRect(0, 0, canvas.width, canvas.height);
  paint.drawImage(image, 0, 0, canvas.width, canvas.height);
  const link = document.createElement("a");
  link.href = canvas.toDataURL("image/png");
  link.download = `${name}.png`;
  link.click();
}
