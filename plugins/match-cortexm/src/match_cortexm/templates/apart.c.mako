/* The windows of neighbouring positions in an image with NHWC order, of positions of ${bytes} bytes: of each row the
 * columns of one position after another, which begin position_step apart. Taps outside get the value fill. */
MATCH_CORTEXM_ALONE static void ${name}(
    int8_t *to,
    const int8_t *image,
    int32_t height,
    int32_t width,
    int32_t first_row,
    int32_t first_column,
    int32_t rows,
    int32_t columns,
    int32_t positions,
    int32_t position_step,
    int32_t row_step,
    int32_t column_step,
    int32_t fill)
{
    for (int32_t ky = 0; ky < rows; ky++) {
        const int32_t row = first_row + ky * row_step;
        for (int32_t position = 0; position < positions; position++) {
            int32_t column = first_column + position * position_step;
            for (int32_t kx = 0; kx < columns; kx++) {
                if ((row < 0) || (row >= height) || (column < 0) || (column >= width)) {
                    memset(to, fill, ${bytes});
                } else {
                    memcpy(to, &image[(row * width + column) * ${bytes}], ${bytes});
                }
                to += ${bytes};
                column += column_step;
            }
        }
    }
}
