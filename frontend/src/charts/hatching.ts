/** A fill of diagonal stripes, which says "borrowed" wherever a team's colour is used. */

const SIZE = 8;

export function hatching(colour: string, ground: string) {
  const image = document.createElement("canvas");
  image.width = SIZE;
  image.height = SIZE;
  const context = image.getContext("2d");
  if (context !== null) paint(context, colour, ground);
  return { image, repeat: "repeat" as const };
}

/** Three strokes, so that the tile joins itself at its corners. */
function paint(context: CanvasRenderingContext2D, colour: string, ground: string): void {
  context.fillStyle = ground;
  context.fillRect(0, 0, SIZE, SIZE);
  context.globalAlpha = 0.4;
  context.fillStyle = colour;
  context.fillRect(0, 0, SIZE, SIZE);
  context.globalAlpha = 1;
  context.strokeStyle = colour;
  context.lineWidth = 2.6;
  context.beginPath();
  for (const offset of [-SIZE, 0, SIZE]) {
    context.moveTo(offset - 1, SIZE + 1);
    context.lineTo(offset + SIZE + 1, -1);
  }
  context.stroke();
}
